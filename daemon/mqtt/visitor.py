"""A short visit to the broker, for a command that asks something of a running daemon."""

import queue
import secrets
import time
from collections.abc import Callable
from typing import Any

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from daemon.errors import CosyvoicedError
from daemon.mqtt.client import hurry
from daemon.mqtt.settings import LinkSettings

CONNECT_DEADLINE_S = 10.0


class CallError(CosyvoicedError):
    """No answer could be had: no broker, or no daemon behind it."""


class Visitor:
    """Subscribes to a few topics while its context lasts; MQTT 3.1.1, which every broker speaks."""

    def __init__(
        self,
        settings: LinkSettings,
        topics: tuple[str, ...],
        on_message: Callable[[str, bytes], None],
        connect_deadline_s: float = CONNECT_DEADLINE_S,
    ) -> None:
        """`on_message` is called in the network thread and must not raise."""
        self._settings = settings
        self._topics = topics
        self._on_message = on_message
        self._connect_deadline_s = connect_deadline_s
        self._subscribed: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._client = paho.Client(
            CallbackAPIVersion.VERSION2, client_id=f"cosyvoiced-say-{secrets.token_hex(4)}"
        )

    def __enter__(self) -> "Visitor":
        """Connects and subscribes. Raises `CallError`."""
        settings, client = self._settings, self._client
        gives_up_at_s = time.monotonic() + self._connect_deadline_s
        if settings.username is not None:
            client.username_pw_set(settings.username, settings.current_password())
        if settings.tls is not None:
            client.tls_set_context(settings.tls.context())
        client.on_connect = self._on_connect
        client.on_subscribe = self._on_subscribe
        client.on_message = lambda _client, _data, message: self._on_message(
            message.topic, bytes(message.payload)
        )
        client.connect_timeout = self._connect_deadline_s
        try:
            client.connect(settings.host, settings.port, keepalive=60)
            hurry(client)
        except (
            OSError,
            UnicodeError,
        ) as error:  # the latter of a host that no name server could be asked for
            raise CallError(f"no MQTT broker answers at {settings.address}: {error}") from error
        client.loop_start()
        try:
            refusal = self._subscribed.get(timeout=max(0.0, gives_up_at_s - time.monotonic()))
        except queue.Empty:
            self.__exit__()
            raise CallError(f"what listens at {settings.address} does not speak MQTT") from None
        if refusal is not None:
            self.__exit__()
            raise CallError(f"the MQTT broker at {settings.address} refuses: {refusal}")
        return self

    def __exit__(self, *_: object) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def hang_up(self) -> None:
        """Ends a connecting that still goes on in another thread."""
        self._subscribed.put("it is being stopped")

    def publish(self, topic: str, payload: bytes, retain: bool = False) -> None:
        self._client.publish(topic, payload, qos=1, retain=retain)

    def _on_connect(
        self, client: paho.Client, _data: Any, _flags: Any, reason: ReasonCode, _properties: Properties | None
    ) -> None:
        if reason.is_failure:
            self._subscribed.put(str(reason))
        else:
            client.subscribe([(topic, 1) for topic in self._topics])

    def _on_subscribe(
        self, _client: paho.Client, _data: Any, _id: int, reasons: list[ReasonCode], _properties: Any
    ) -> None:
        refused = [topic for topic, reason in zip(self._topics, reasons, strict=False) if reason.is_failure]
        self._subscribed.put(f"this user may not read {', '.join(refused)}" if refused else None)
