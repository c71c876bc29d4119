"""The network thread: one connection to the broker after the other, for as long as the daemon lives.

paho's own loop thread ends for good on an unforeseen exception while `is_connected()` still says True,
and keeps the reason of a failed attempt to itself. So the thread here is ours and paho is a protocol
machine in it: whatever goes wrong ends that connection, is told in one sentence, and is tried again.
"""

import functools
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, Protocol

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from daemon.mqtt import reasons
from daemon.mqtt.settings import Delivery, LinkSettings

log = logging.getLogger(__name__)

P = ParamSpec("P")

ANSWER_DEADLINE_S = 10.0  # TCP is up, CONNACK is not: a broker that is starting, or not a broker
STABLE_S = 10.0  # a connection that lasted this long is forgiven what went before
POLL_S = 1.0  # paho looks after keep-alive once per poll
MAX_PACKET_BYTES = 268_435_455  # MQTT 3.1.1, section 2.2.3


@dataclass(frozen=True)
class Subscription:
    """A topic filter and the quality of service it is asked for with."""

    topic_filter: str
    qos: int = 1


@dataclass(frozen=True)
class Accepted:
    """The broker let us in."""

    session_present: bool
    protocol: str  # "5" or "3.1.1"
    client: int  # counts paho clients: messages in flight in an earlier one are lost with it
    max_packet_bytes: int  # that the broker takes
    receive_maximum: int  # unacknowledged messages that the broker takes


@dataclass(frozen=True)
class Outgoing:
    """One message to publish. `correlation_data` needs MQTT 5 and is left out without it."""

    topic: str
    payload: bytes
    qos: int
    retain: bool
    correlation_data: bytes | None = None

    @property
    def max_packet_bytes(self) -> int:
        """At most this many bytes on the wire: a fixed header of 5, lengths, identifier and property heads."""
        return len(self.topic.encode()) + len(self.payload) + len(self.correlation_data or b"") + 20


class Listener(Protocol):
    """Who is told; always in the network thread, so: hand over and return."""

    def accepted(self, accepted: Accepted) -> None: ...
    def lost(self) -> None: ...
    def complained(self, sentence: str | None) -> None: ...
    def published(self, client: int, mid: int, refusal: str | None) -> None: ...
    def delivered(self, delivery: Delivery) -> None: ...


def _guarded(callback: Callable[Concatenate["Connection", P], None]) -> Callable[..., None]:
    """A paho callback whose exception is logged and goes no further."""

    @functools.wraps(callback)
    def guarded(self: "Connection", *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            callback(self, *args, **kwargs)
        except Exception:
            log.exception("an MQTT callback failed")

    return guarded


class Connection:
    """Connects, connects again, and stops; `send`, `acknowledge` and `stop` may be called from any thread."""

    def __init__(self, settings: LinkSettings, subscriptions: tuple[Subscription, ...], listener: Listener) -> None:
        self._settings = settings
        self._subscriptions = subscriptions
        self._listener = listener
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self._client: paho.Client | None = None
        self._clients = 0
        self._protocol = MQTTProtocolVersion.MQTTv5
        self._protocol_is_known = False
        self._connection = 0  # counts accepted connections
        self._up = False
        self._accepted_at_s = 0.0
        self._refusal: ReasonCode | None = None
        self._complaints: set[str] = set()

    def start(self) -> None:
        """Begins to connect. Raises `LinkError` when the TLS files cannot be used."""
        self._client = self._new_client()
        self._thread = threading.Thread(target=self._run, name="mqtt", daemon=True)
        self._thread.start()

    def stop(self, deadline_s: float) -> None:
        """Says goodbye to the broker, which keeps the session, and ends the thread."""
        self._stopping.set()
        if self._client is not None:
            self._client.disconnect()
        if self._thread is not None:
            self._thread.join(deadline_s)  # one that is inside a name look-up ends by itself later

    def send(self, outgoing: Outgoing) -> int | None:
        """Hands a message to the network; its id, or None when there is no connection to take it."""
        client = self._client
        if client is None or not self._up:
            return None
        properties = None
        if outgoing.correlation_data is not None and self._protocol == MQTTProtocolVersion.MQTTv5:
            properties = Properties(PacketTypes.PUBLISH)
            properties.CorrelationData = outgoing.correlation_data
        info = client.publish(outgoing.topic, outgoing.payload, outgoing.qos, outgoing.retain, properties)
        kept = info.rc == MQTTErrorCode.MQTT_ERR_SUCCESS or (
            info.rc == MQTTErrorCode.MQTT_ERR_NO_CONN and outgoing.qos > 0  # paho sends it after reconnecting
        )
        return info.mid if kept else None

    def acknowledge(self, delivery: Delivery) -> None:
        """Tells the broker that the message is safe; nothing happens when its connection is gone."""
        # A connection that is lost right here leaves the packet in paho's buffer, which paho empties
        # before it connects again: the broker never sees an identifier of an earlier connection.
        if self._client is not None and self._up and delivery.connection == self._connection:
            self._client.ack(delivery.mid, delivery.qos)

    def _run(self) -> None:
        delay_s = self._settings.retry_min_s
        while not self._stopping.is_set():
            before = self._protocol
            self._serve()
            if self._was_stable():
                delay_s = self._settings.retry_min_s
            if self._protocol == before:
                self._stopping.wait(delay_s)
                delay_s = min(delay_s * 2, self._settings.retry_max_s)

    def _was_stable(self) -> bool:
        return self._accepted_at_s > 0 and time.monotonic() - self._accepted_at_s >= STABLE_S

    def _serve(self) -> None:
        """Makes one connection and keeps it until it ends."""
        self._accepted_at_s, self._refusal = 0.0, None
        reached = False
        try:
            client = self._client = self._client or self._new_client()
            client.username_pw_set(self._settings.username, self._settings.current_password())
            client.reconnect()
            reached = True
            self._poll(client)
        except OSError as error:
            self._complain(reasons.unreachable(self._settings.address, error))
        except Exception as error:
            log.exception("the connection to the MQTT broker failed")
            self._complain(f"the connection to the MQTT broker failed: {error}")
        finally:
            self._down()
        if not self._stopping.is_set():
            self._judge(reached)

    def _poll(self, client: paho.Client) -> None:
        answer_by_s = time.monotonic() + ANSWER_DEADLINE_S
        while client.loop(POLL_S) == MQTTErrorCode.MQTT_ERR_SUCCESS:
            if self._up and self._complaints and self._was_stable():
                self._complaints.clear()
                self._listener.complained(None)
            elif not self._up and time.monotonic() > answer_by_s:
                raise TimeoutError(f"no answer within {ANSWER_DEADLINE_S:g} s")

    def _judge(self, reached: bool) -> None:
        """After a connection: what to say of it, and which protocol to try next."""
        if self._accepted_at_s > 0 or not reached:
            return
        version_refused = self._refusal is not None and reasons.is_unsupported_version(self._refusal)
        if version_refused or (self._refusal is None and not self._protocol_is_known):
            # Some brokers that know only 3.1.1 hang up on MQTT 5 instead of refusing it.
            self._use_other_protocol()
            if version_refused and self._protocol == MQTTProtocolVersion.MQTTv311:
                return
        if self._refusal is not None:
            self._complain(reasons.refused(self._settings, self._refusal))
        else:
            self._complain(f"the MQTT broker at {self._settings.address} closed the connection without an answer")

    def _use_other_protocol(self) -> None:
        is_v5 = self._protocol == MQTTProtocolVersion.MQTTv5
        self._protocol = MQTTProtocolVersion.MQTTv311 if is_v5 else MQTTProtocolVersion.MQTTv5
        self._client = None

    def _new_client(self) -> paho.Client:
        settings, v5 = self._settings, self._protocol == MQTTProtocolVersion.MQTTv5
        client = paho.Client(
            CallbackAPIVersion.VERSION2,
            settings.client_id,
            clean_session=None if v5 else False,
            protocol=self._protocol,
            manual_ack=True,
            reconnect_on_failure=False,
        )
        if settings.tls is not None:
            client.tls_set_context(settings.tls.context())
            client.tls_insecure_set(settings.tls.insecure)
        if settings.will is not None:
            client.will_set(settings.will.topic, settings.will.payload, qos=1, retain=True)
        client.max_inflight_messages_set(0)  # the link's window is smaller than any that paho would keep
        client.on_connect = self._on_connect
        client.on_disconnect = self._on_disconnect
        client.on_subscribe = self._on_subscribe
        client.on_publish = self._on_publish
        client.on_message = self._on_message
        # Without a callback here paho writes to the socket from the thread that publishes.
        client.on_socket_register_write = lambda *_: None
        client.connect_async(
            settings.host,
            settings.port,
            settings.keepalive_s,
            clean_start=False if v5 else paho.MQTT_CLEAN_START_FIRST_ONLY,
            properties=_connect_properties(settings) if v5 else None,
        )
        self._clients += 1
        return client

    @_guarded
    def _on_connect(
        self, client: paho.Client, _: Any, flags: paho.ConnectFlags, reason: ReasonCode, properties: Properties | None
    ) -> None:
        if reason.is_failure:
            self._refusal = reason
            return
        self._accepted_at_s = time.monotonic()
        self._protocol_is_known = True
        self._connection += 1
        self._up = True
        v5 = self._protocol == MQTTProtocolVersion.MQTTv5
        self._listener.accepted(
            Accepted(
                session_present=bool(flags.session_present),
                protocol="5" if v5 else "3.1.1",
                client=self._clients,
                max_packet_bytes=getattr(properties, "MaximumPacketSize", MAX_PACKET_BYTES),
                receive_maximum=getattr(properties, "ReceiveMaximum", 65535),
            )
        )
        if v5:
            # Live messages come with retain off, stored ones with retain on, and those only once.
            client.subscribe(
                [
                    (s.topic_filter, SubscribeOptions(s.qos, retainHandling=SubscribeOptions.RETAIN_SEND_IF_NEW_SUB))
                    for s in self._subscriptions
                ]
            )
        else:
            client.subscribe([(s.topic_filter, s.qos) for s in self._subscriptions])

    @_guarded
    def _on_disconnect(self, _client: paho.Client, _: Any, flags: Any, reason: ReasonCode, *_rest: Any) -> None:
        was_up = self._up
        self._down()
        if was_up and not self._stopping.is_set():
            by_broker = reason if flags.is_disconnect_packet_from_server else None
            self._complain(reasons.lost(self._settings, by_broker))

    @_guarded
    def _on_subscribe(self, _client: paho.Client, _: Any, _mid: int, codes: list[ReasonCode], *_rest: Any) -> None:
        for subscription, code in zip(self._subscriptions, codes, strict=False):
            if code.is_failure:
                self._complain(f"the MQTT broker refused the subscription to {subscription.topic_filter}: {code}")

    @_guarded
    def _on_publish(self, _client: paho.Client, _: Any, mid: int, reason: ReasonCode, *_rest: Any) -> None:
        self._listener.published(self._clients, mid, str(reason) if reason.is_failure else None)

    @_guarded
    def _on_message(self, client: paho.Client, _: Any, message: paho.MQTTMessage) -> None:
        try:
            topic = message.topic
        except UnicodeDecodeError:
            log.warning("dropped a message: its topic is not valid UTF-8")
            client.ack(message.mid, message.qos)
            return
        properties = message.properties
        self._listener.delivered(
            Delivery(
                topic=topic,
                payload=bytes(message.payload),
                qos=message.qos,
                retain=bool(message.retain),
                dup=bool(message.dup),
                mid=message.mid,
                connection=self._connection,
                response_topic=getattr(properties, "ResponseTopic", None),
                correlation_data=getattr(properties, "CorrelationData", None),
                message_expiry_s=getattr(properties, "MessageExpiryInterval", None),
            )
        )

    def _down(self) -> None:
        if self._up:
            self._up = False
            self._listener.lost()

    def _complain(self, sentence: str) -> None:
        log.log(logging.DEBUG if sentence in self._complaints else logging.WARNING, "%s", sentence)
        self._complaints.add(sentence)
        self._listener.complained(sentence)


def _connect_properties(settings: LinkSettings) -> Properties:
    properties = Properties(PacketTypes.CONNECT)
    properties.SessionExpiryInterval = settings.session_expiry_s
    properties.ReceiveMaximum = settings.receive_maximum
    properties.MaximumPacketSize = settings.max_packet_bytes
    return properties
