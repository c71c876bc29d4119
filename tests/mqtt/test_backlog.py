"""Stored messages and their queued twins are known as such; everything else is not."""

from daemon.mqtt.backlog import Backlog
from daemon.mqtt.traffic import Delivery


def delivery(payload: bytes, retain: bool = False) -> Delivery:
    return Delivery(topic="t", payload=payload, qos=1, retain=retain, dup=False, mid=1, connection=1)


def test_nothing_is_held_before_and_after() -> None:
    backlog = Backlog()
    assert not backlog.hold(delivery(b"a"))
    backlog.begin()
    assert backlog.hold(delivery(b"a"))
    assert len(backlog.end()) == 1
    assert not backlog.hold(delivery(b"a"))


def test_the_twin_of_a_stored_message_counts_as_stored_whichever_came_first() -> None:
    backlog = Backlog()
    backlog.begin()
    for held in (delivery(b"twin"), delivery(b"other"), delivery(b"twin", retain=True), delivery(b"twin")):
        backlog.hold(held)
    assert [(held.payload, held.retain) for held in backlog.end()] == [
        (b"twin", True),
        (b"other", False),
        (b"twin", True),
        (b"twin", True),
    ]


def test_a_second_connection_hands_back_what_the_first_still_held() -> None:
    backlog = Backlog()
    backlog.begin()
    backlog.hold(delivery(b"first"))
    assert [held.payload for held in backlog.begin()] == [b"first"]
    assert backlog.end() == []
