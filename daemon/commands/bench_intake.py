"""How many valid messages a second a daemon takes in, journalled, with none lost."""

import secrets
import threading
import time
from typing import Any

import msgspec
import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from daemon.errors import CosyvoicedError
from daemon.mqtt.messages import Event, Result
from daemon.mqtt.settings import LinkSettings
from daemon.mqtt.topics import Topics

MESSAGES = 3000
DEADLINE_S = 60.0


def accepted_per_second(settings: LinkSettings, topics: Topics) -> float:
    """Publishes at QoS 1 as fast as the broker takes it. Raises `CosyvoicedError` when one is lost.

    The daemon is paused meanwhile, so that intake alone is measured, and emptied afterwards.
    """
    accepted: set[str] = set()
    complete, subscribed = threading.Event(), threading.Event()
    run = secrets.token_hex(4)

    def on_message(_client: paho.Client, _data: Any, message: paho.MQTTMessage) -> None:
        result = msgspec.json.decode(message.payload, type=Result)
        if result.event == Event.ACCEPTED and result.id.startswith(run):
            accepted.add(result.id)
            if len(accepted) == MESSAGES:
                complete.set()

    listener = paho.Client(CallbackAPIVersion.VERSION2)
    listener.on_message = on_message
    listener.on_subscribe = lambda *_: subscribed.set()
    listener.connect(settings.host, settings.port)
    listener.subscribe(topics.result, qos=1)
    listener.loop_start()
    sender = paho.Client(CallbackAPIVersion.VERSION2)
    sender.max_inflight_messages_set(100)
    sender.connect(settings.host, settings.port)
    sender.loop_start()
    try:
        subscribed.wait(DEADLINE_S)
        sender.publish(f"{topics.own}/command/pause", b"", qos=1).wait_for_publish(DEADLINE_S)
        started_s = time.monotonic()
        for number in range(MESSAGES):
            fields = {"id": f"{run}-{number}", "text": f"Message {number}", "output": "file"}
            sender.publish(f"{topics.own}/say", msgspec.json.encode(fields), qos=1)
        if not complete.wait(DEADLINE_S):
            raise CosyvoicedError(f"{MESSAGES - len(accepted)} of {MESSAGES} messages were not accepted")
        took_s = time.monotonic() - started_s
        for verb in ("clear", "resume"):
            sender.publish(f"{topics.own}/command/{verb}", b"", qos=1).wait_for_publish(DEADLINE_S)
    finally:
        for client in (sender, listener):
            client.disconnect()
            client.loop_stop()
    return MESSAGES / took_s
