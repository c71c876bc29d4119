"""The network thread: one connection to the broker after the other, for as long as the daemon lives.

paho's own loop thread ends for good on an unforeseen exception while `is_connected()` still says True,
and keeps the reason of a failed attempt to itself. So the thread here is ours and paho is a protocol
machine in it: whatever goes wrong ends that connection, is told in one sentence, and is tried again.
"""

import contextlib
import functools
import logging
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec

import paho.mqtt.client as paho
from paho.mqtt.enums import MQTTErrorCode
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from daemon.mqtt import reasons
from daemon.mqtt.client import V5, V311, delivery, hurry, new_client, publish, subscribe
from daemon.mqtt.settings import LinkError, LinkSettings
from daemon.mqtt.traffic import Accepted, Delivery, Listener, Outgoing, Subscription

log = logging.getLogger(__name__)

P = ParamSpec("P")

ANSWER_DEADLINE_S = 10.0  # TCP is up, CONNACK is not: a broker that is starting, or not a broker
STABLE_S = 10.0  # a connection that lasted this long is forgiven what went before
SUSPICIOUS = 3  # so many short connections in a row are no accident
MAX_COMPLAINTS = 50  # remembered; more kinds of trouble than this at once are not told apart
POLL_S = 1.0  # paho looks after keep-alive once per poll
MAX_PACKET_BYTES = 268_435_455  # MQTT 3.1.1, section 2.2.3: four bytes of seven bits
MAX_RECEIVE = 65_535  # MQTT 5, section 3.2.2.3.3: what counts when the broker says nothing


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
    """Connects, connects again, and stops; all but the callbacks may be called from any thread."""

    def __init__(
        self, settings: LinkSettings, subscriptions: tuple[Subscription, ...], listener: Listener
    ) -> None:
        self._settings = settings
        self._subscriptions = subscriptions
        self._listener = listener
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self._client: paho.Client | None = None
        self._clients = 0
        self._protocol = V5
        self._protocol_is_known = False
        self._connection = 0  # counts accepted connections
        self._up = False
        self._accepted_at_s = 0.0
        self._short_lived = 0  # connections in a row that were accepted and soon lost
        self._refusal: ReasonCode | None = None
        self._complaints: dict[str, int] = {}  # each with the connection it was last made in
        self._turned_at_s = time.monotonic()

    @property
    def idle_s(self) -> float:
        """Seconds since the network thread last went round: about a second, more while it connects."""
        return time.monotonic() - self._turned_at_s

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

    def hang_up(self) -> None:
        """Ends the connection, as if the network had; the thread then tries anew."""
        sock = self._client.socket() if self._client is not None else None
        if isinstance(sock, socket.socket):
            with contextlib.suppress(OSError):  # it is gone already
                sock.shutdown(socket.SHUT_RDWR)

    def send(self, outgoing: Outgoing) -> int | None:
        """Hands a message to the network; its id, or None when there is no connection to take it."""
        client = self._client
        if client is None or not self._up:
            return None
        return publish(client, self._protocol, outgoing)

    def acknowledge(self, taken: Delivery) -> None:
        """Tells the broker that the message is safe; nothing happens when its connection is gone."""
        # A connection that is lost right here leaves the packet in paho's buffer, which paho empties
        # before it connects again: the broker never sees an identifier of an earlier connection.
        if self._client is not None and self._up and taken.connection == self._connection:
            self._client.ack(taken.mid, taken.qos)

    def complain(self, sentence: str, error: Exception | None = None) -> None:
        """Tells what is wrong: once aloud, until a connection without this trouble has lasted a while.

        `error` is logged with its traceback: one that nobody has foreseen.
        """
        level = logging.DEBUG if sentence in self._complaints else logging.WARNING
        log.log(level, "%s", sentence, exc_info=error)
        if len(self._complaints) < MAX_COMPLAINTS:
            self._complaints[sentence] = self._connection
        self._listener.complained(sentence)

    def _run(self) -> None:
        delay_s = self._settings.retry_min_s
        while not self._stopping.is_set():
            self._turned_at_s = time.monotonic()
            fell_back = self._serve()
            if self._was_stable():
                delay_s = self._settings.retry_min_s
            if not fell_back:
                self._stopping.wait(delay_s)
                delay_s = min(delay_s * 2, self._settings.retry_max_s)

    def _serve(self) -> bool:
        """Makes one connection and keeps it until it ends; whether to try an older protocol at once."""
        self._accepted_at_s, self._refusal = 0.0, None
        try:
            client = self._client = self._client or self._new_client()
            client.username_pw_set(self._settings.username, self._settings.current_password())
            client.reconnect()
            hurry(client)
            try:
                self._poll(client)
            finally:
                _close(client)
        except (OSError, LinkError) as error:
            self.complain(reasons.unreachable(self._settings.address, error))
            return False
        except Exception as error:  # noqa: BLE001  # the thread must live; `complain` logs the traceback
            self.complain(f"the connection to the MQTT broker failed: {error}", error)
            self._client = None  # whatever state it is in
            return False
        finally:
            self._down()
        return self._accepted_at_s == 0 and not self._stopping.is_set() and self._turned_away()

    def _poll(self, client: paho.Client) -> None:
        answer_by_s = time.monotonic() + ANSWER_DEADLINE_S
        while client.loop(POLL_S) == MQTTErrorCode.MQTT_ERR_SUCCESS:
            self._turned_at_s = time.monotonic()
            if self._stopping.is_set():
                client.disconnect()
                client.loop(POLL_S)
                return
            if not self._up and self._accepted_at_s == 0 and time.monotonic() > answer_by_s:
                return
            self._forgive()

    def _turned_away(self) -> bool:
        """After a broker that did not let us in: says why; whether to try an older protocol at once."""
        refusal, was_v5 = self._refusal, self._protocol == V5
        unsupported = refusal is not None and reasons.is_unsupported_version(refusal)
        # Some brokers that know only 3.1.1 hang up on MQTT 5, or wait for more, instead of refusing it.
        if unsupported or (refusal is None and not self._protocol_is_known):
            self._use_other_protocol()
            if was_v5:
                return True
        self.complain(reasons.refused(self._settings, refusal))
        return False

    def _was_stable(self) -> bool:
        return self._accepted_at_s > 0 and time.monotonic() - self._accepted_at_s >= STABLE_S

    def _forgive(self) -> None:
        stale = [sentence for sentence, at in self._complaints.items() if at < self._connection]
        if stale and self._up and self._was_stable():
            for sentence in stale:
                del self._complaints[sentence]
            self._listener.complained(next(reversed(self._complaints), None))

    def _use_other_protocol(self) -> None:
        self._protocol = V311 if self._protocol == V5 else V5
        self._client = None

    def _new_client(self) -> paho.Client:
        client = new_client(self._settings, self._protocol)
        client.on_connect = self._on_connect
        client.on_disconnect = self._on_disconnect
        client.on_subscribe = self._on_subscribe
        client.on_publish = self._on_publish
        client.on_message = self._on_message
        self._clients += 1
        return client

    @_guarded
    def _on_connect(
        self,
        client: paho.Client,
        _: Any,
        flags: paho.ConnectFlags,
        reason: ReasonCode,
        properties: Properties | None,
    ) -> None:
        if reason.is_failure:
            self._refusal = reason
            return
        self._accepted_at_s = time.monotonic()
        self._protocol_is_known = True
        self._connection += 1
        subscribe(client, self._protocol, self._subscriptions)  # before the first message can be sent
        self._up = True
        self._listener.accepted(
            Accepted(
                session_present=bool(flags.session_present),
                protocol="5" if self._protocol == V5 else "3.1.1",
                client=self._clients,
                max_packet_bytes=getattr(properties, "MaximumPacketSize", MAX_PACKET_BYTES),
                receive_maximum=getattr(properties, "ReceiveMaximum", MAX_RECEIVE),
            )
        )

    @_guarded
    def _on_disconnect(
        self, _client: paho.Client, _: Any, flags: Any, reason: ReasonCode, *_rest: Any
    ) -> None:
        was_up = self._up
        self._down()
        if was_up and not self._stopping.is_set():
            self._short_lived = 0 if self._was_stable() else self._short_lived + 1
            by_broker = reason if flags.is_disconnect_packet_from_server else None
            self.complain(reasons.lost(self._settings, by_broker, self._short_lived >= SUSPICIOUS))

    @_guarded
    def _on_subscribe(
        self, _client: paho.Client, _: Any, _mid: int, codes: list[ReasonCode], *_rest: Any
    ) -> None:
        for subscription, code in zip(self._subscriptions, codes, strict=False):
            if code.is_failure:
                self.complain(
                    f"the MQTT broker refused the subscription to {subscription.topic_filter}: {code}"
                )

    @_guarded
    def _on_publish(self, _client: paho.Client, _: Any, mid: int, reason: ReasonCode, *_rest: Any) -> None:
        self._listener.published(self._clients, mid, str(reason) if reason.is_failure else None)

    @_guarded
    def _on_message(self, client: paho.Client, _: Any, message: paho.MQTTMessage) -> None:
        try:
            self._listener.delivered(delivery(message, self._connection))
        except UnicodeDecodeError:
            log.warning("dropped a message: its topic is not valid UTF-8")
            client.ack(message.mid, message.qos)

    def _down(self) -> None:
        if self._up:
            self._up = False
            self._listener.lost()


def _close(client: paho.Client) -> None:
    sock = client.socket()
    if sock is not None:
        sock.close()
