"""The embedded broker: `python -m daemon.mqtt.broker`, an amqtt of MQTT 3.1.1 for this machine alone.

It tells its port by a `Ready` frame on stdout and ends when its stdin ends. amqtt 0.12 loses and alters
messages where a session outlives a connection; the two classes here keep the promises of QoS 1:
an unacknowledged message is sent again, a message that waited is not marked as retained, and a client
that takes over its own session stays connected.
"""

import argparse
import asyncio
import logging
import signal
import sys
from dataclasses import dataclass
from functools import partial
from typing import Any

import amqtt.broker
from amqtt.adapters import StreamWriterAdapter
from amqtt.broker import RetainedApplicationMessage
from amqtt.contexts import BrokerConfig, ListenerConfig, ListenerType
from amqtt.mqtt.constants import QOS_1
from amqtt.mqtt.protocol.broker_handler import BrokerProtocolHandler
from amqtt.plugins.base import BaseAuthPlugin
from amqtt.session import INCOMING, ApplicationMessage, OutgoingApplicationMessage, Session

from daemon.children.frames import Codec, Ready
from daemon.mqtt.embedded import is_loopback
from daemon.mqtt.greeting import CONNACK_VERSION_REFUSED, Replay, is_mqtt_3_1_1, read_connect

log = logging.getLogger(__name__)

LISTENER = "default"  # amqtt asks for one of this name
OVERFLOWED = "cosyvoiced.overflowed"  # attribute of a session that has lost messages
SESSION_EXPIRY_S = 3600
MAX_INFLIGHT = 100  # messages sent to one client and not yet acknowledged; the next ones wait
MAX_WAITING = 10_000  # messages that wait for one client; then the oldest go
KEEPALIVE_GRACE_S = 15  # MQTT 3.1.1, section 3.1.2.10 asks for half the keep-alive; ours is 30 s
CONNECT_DEADLINE_S = 10.0
SHUTDOWN_DEADLINE_S = 1.0
CANNOT_LISTEN = 3  # exit code; 2 is argparse's


class Everybody(BaseAuthPlugin):  # type: ignore[misc]  # amqtt has no types that mypy sees
    """Lets in whoever is on this machine; with amqtt's own such plugin nothing waits for a client."""

    @dataclass
    class Config:
        """amqtt asks for one."""

    async def authenticate(self, *, session: Session) -> bool:
        return True


class Handler(BrokerProtocolHandler):  # type: ignore[misc]  # as above
    """One client's connection; amqtt's own forgets a message that is not acknowledged in five seconds."""

    async def _handle_qos1_message_flow(self, message: Any) -> None:
        if message.direction == INCOMING:
            await super()._handle_qos1_message_flow(message)
            return
        session = self.session
        is_new = message.packet_id not in session.inflight_out
        if is_new and (len(session.inflight_out) >= MAX_INFLIGHT or not session.retained_messages.empty()):
            await wait_in(session, message)
        else:
            await self._send(message)

    async def handle_puback(self, puback: Any) -> None:
        self.session.inflight_out.pop(puback.variable_header.packet_id, None)
        await self.send_waiting()

    async def send_waiting(self) -> None:
        """Sends what waited for this client, in order, as far as its acknowledgements allow."""
        session = self.session
        while len(session.inflight_out) < MAX_INFLIGHT and not session.retained_messages.empty():
            message = session.retained_messages.get_nowait()
            # What waited for a client that was away carries a retain mark that its publisher did not set.
            stored = isinstance(message, OutgoingApplicationMessage) and message.retain
            if message.qos == QOS_1:
                packet_id = session.next_packet_id
                await self._send(
                    OutgoingApplicationMessage(packet_id, message.topic, QOS_1, message.data, stored)
                )
            else:
                await self.mqtt_publish(message.topic, message.data, message.qos, retain=stored)

    async def _send(self, message: OutgoingApplicationMessage) -> None:
        """Sends a message of QoS 1 and keeps it until the client acknowledges it, on whatever connection."""
        self.session.inflight_out[message.packet_id] = message
        message.publish_packet = message.build_publish_packet(dup=message.publish_packet is not None)
        await self._send_packet(message.publish_packet)

    def handle_read_timeout(self) -> None:
        """A client that is silent for longer than its keep-alive is gone; amqtt would wait for ever."""
        if self._disconnect_waiter is not None and not self._disconnect_waiter.done():
            self._disconnect_waiter.set_result(None)


class Broker(amqtt.broker.Broker):  # type: ignore[misc]  # as above
    """amqtt's broker with sessions that hold."""

    async def _client_message_loop(self, session: Session, handler: Handler) -> None:
        if session.transitions.state != "connected":  # the connection that was taken over has just ended
            session.transitions.connect()
            await self._publish_session_retained_messages(session)
        await super()._client_message_loop(session, handler)

    async def _handle_disconnect(self, session: Session, handler: Handler, waiter: Any) -> None:
        if self._get_handler(session) is handler:
            await super()._handle_disconnect(session, handler, waiter)
        else:  # another connection has taken the session over: it is not to be ended
            await self._stop_handler(handler)

    async def _publish_session_retained_messages(self, session: Session) -> None:
        handler = self._get_handler(session)
        if handler is not None:
            await handler.send_waiting()

    async def _publish_retained_messages_for_subscription(
        self, subscription: tuple[str, int], session: Session
    ) -> None:
        subscribers = self._subscriptions.get(subscription[0], ())
        if any(subscriber is session for subscriber, _ in subscribers):
            await super()._publish_retained_messages_for_subscription(subscription, session)

    async def _retain_broadcast_message(self, broadcast: dict[str, Any], qos: int, session: Session) -> None:
        await wait_in(session, RetainedApplicationMessage(None, broadcast["topic"], broadcast["data"], qos))


async def wait_in(session: Session, message: ApplicationMessage) -> None:
    """Keeps a message until the client takes it; when too many wait, the oldest is lost."""
    waiting = session.retained_messages
    if waiting.qsize() >= MAX_WAITING:
        waiting.get_nowait()
        if not session.attributes.get(OVERFLOWED):
            log.error(
                "client %s takes no messages: of those that wait, the oldest are lost", session.client_id
            )
        session.attributes[OVERFLOWED] = True
    await waiting.put(message)


async def serve(host: str, port: int) -> None:
    """Serves until stdin ends."""
    amqtt.broker.BrokerProtocolHandler = Handler  # amqtt takes no other way to be given one
    broker = Broker(
        BrokerConfig(
            listeners={LISTENER: ListenerConfig(type=ListenerType.EXTERNAL)},
            plugins={f"{Everybody.__module__}.{Everybody.__qualname__}": {}},
            session_expiry_interval=SESSION_EXPIRY_S,
            timeout_disconnect_delay=KEEPALIVE_GRACE_S,
        )
    )
    await broker.start()
    server = await asyncio.start_server(partial(_attend, broker), host, port)
    port = server.sockets[0].getsockname()[1]
    sys.stdout.buffer.write(Codec[Ready](Ready).encode(Ready({"port": port})))
    sys.stdout.buffer.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.buffer.read)
    server.close()
    async with asyncio.timeout(SHUTDOWN_DEADLINE_S):
        await broker.shutdown()


async def _attend(broker: Broker, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection, from its first to its last byte."""
    try:
        async with asyncio.timeout(CONNECT_DEADLINE_S):
            connect = await read_connect(reader)
        if is_mqtt_3_1_1(connect):
            await broker.external_connected(Replay(connect, reader), StreamWriterAdapter(writer), LISTENER)
        else:
            writer.write(CONNACK_VERSION_REFUSED)
            await writer.drain()
    except (OSError, EOFError):  # TimeoutError is an OSError, asyncio.IncompleteReadError an EOFError
        log.debug("a client went away, or never said what it wants")
    except asyncio.CancelledError:
        log.debug("the broker ends")
    except Exception:
        log.exception("a connection failed")
    finally:
        writer.close()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m daemon.mqtt.broker", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=1883, help="0 takes a free one")
    arguments = parser.parse_args()
    if not is_loopback(arguments.host):
        parser.error(f"{arguments.host} can be reached by other machines; use an external broker for that")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the daemon, which then ends us
    logging.basicConfig(format="%(levelname)s %(message)s", level=logging.ERROR)
    try:
        asyncio.run(serve(arguments.host, arguments.port))
    except TimeoutError:
        return 0  # a client did not let go in time, and everything is over anyway
    except OSError as error:
        print(f"cannot listen on {arguments.host}:{arguments.port}: {error.strerror}", file=sys.stderr)
        return CANNOT_LISTEN
    return 0


if __name__ == "__main__":
    sys.exit(main())
