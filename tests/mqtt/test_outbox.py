"""Room in the outbox: bounded for events, always there for what a device is."""

import pytest

from daemon.mqtt.outbox import Outbox
from daemon.mqtt.settings import LinkError
from daemon.mqtt.traffic import Outgoing


def event(number: int) -> Outgoing:
    return Outgoing("result", b"%d" % number, qos=1, retain=False)


def state(payload: bytes, topic: str = "availability") -> Outgoing:
    return Outgoing(topic, payload, qos=1, retain=True)


async def test_a_full_outbox_still_takes_what_is_retained_and_keeps_the_newest() -> None:
    outbox = Outbox(2)
    outbox.put(event(1))
    outbox.put(event(2))
    with pytest.raises(LinkError):
        outbox.put(event(3))
    first = outbox.put(state(b"offline"))
    second = outbox.put(state(b"online"))
    assert first is second
    sent: list[bytes] = []

    def send(outgoing: Outgoing) -> int:
        sent.append(outgoing.payload)
        return len(sent)

    outbox.pump(10, send, lambda _: None)
    assert sent == [b"1", b"2", b"online"]
