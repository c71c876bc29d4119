"""The other end of a conversation: a plain MQTT client that publishes, listens, and can be cut off."""

import queue
import threading
import time
from types import TracebackType

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.properties import Properties

DEADLINE_S = 10.0


class Peer:
    """`with Peer(port, "a/#") as peer:` subscribes; `peer.messages` fills up."""

    def __init__(self, port: int, *filters: str, client_id: str = "", v5: bool = False) -> None:
        protocol = MQTTProtocolVersion.MQTTv5 if v5 else MQTTProtocolVersion.MQTTv311
        self.messages: queue.Queue[paho.MQTTMessage] = queue.Queue()
        self._port = port
        self._filters = filters
        self._ready = threading.Event()
        self._client = paho.Client(CallbackAPIVersion.VERSION2, client_id, protocol=protocol)
        self._client.on_message = lambda _client, _userdata, message: self.messages.put(message)
        self._client.on_subscribe = lambda *_: self._ready.set()

    def __enter__(self) -> "Peer":
        self._client.connect("127.0.0.1", self._port)
        self._client.loop_start()
        if self._filters:
            self._client.subscribe([(topic_filter, 1) for topic_filter in self._filters])
            assert self._ready.wait(DEADLINE_S), "the broker did not take the subscription"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def publish(
        self,
        topic: str,
        payload: bytes | str,
        qos: int = 1,
        retain: bool = False,
        properties: Properties | None = None,
    ) -> None:
        """Publishes and waits until the broker has it."""
        self.publish_soon(topic, payload, qos, retain, properties).wait_for_publish(DEADLINE_S)

    def publish_soon(
        self,
        topic: str,
        payload: bytes | str,
        qos: int = 1,
        retain: bool = False,
        properties: Properties | None = None,
    ) -> paho.MQTTMessageInfo:
        return self._client.publish(topic, payload, qos, retain, properties)

    def receive(self) -> paho.MQTTMessage:
        return self.messages.get(timeout=DEADLINE_S)

    def wait_for(self, topic: str, payload: bytes) -> paho.MQTTMessage:
        """The next message with this topic and payload; others are passed over."""
        give_up_at_s = time.monotonic() + DEADLINE_S
        while time.monotonic() < give_up_at_s:
            message = self.messages.get(timeout=DEADLINE_S)
            if message.topic == topic and message.payload == payload:
                return message
        raise AssertionError(f"no {payload!r} on {topic} within {DEADLINE_S:g} s")
