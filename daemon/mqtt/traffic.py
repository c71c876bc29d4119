"""What passes between the link, its network thread and the daemon."""

from dataclasses import dataclass
from typing import Protocol

import msgspec

FRAMING_BYTES = (
    20  # fixed header 5, topic length 2, identifier 2, property length 4, heads of two properties 6
)


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
    """One message to publish. The last two need MQTT 5 and are left out without it."""

    topic: str
    payload: bytes
    qos: int
    retain: bool
    response_topic: str | None = None
    correlation_data: bytes | None = None

    @property
    def max_packet_bytes(self) -> int:
        """At most this many bytes on the wire."""
        strings = self.topic.encode() + (self.response_topic or "").encode()
        return len(strings) + len(self.payload) + len(self.correlation_data or b"") + FRAMING_BYTES


class Delivery(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One message that came in, and what is needed to acknowledge it."""

    topic: str
    payload: bytes
    qos: int
    retain: bool  # True only for a stored message that the broker replays
    dup: bool
    mid: int
    connection: int  # which connection it came by; an acknowledgement is good on that one only
    response_topic: str | None = None
    correlation_data: bytes | None = None
    message_expiry_s: int | None = None  # what is left of it


class LinkStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The link now, for state messages and for the doctor."""

    address: str
    connected: bool
    protocol: str | None  # "5" or "3.1.1"; None until a broker has accepted us
    last_error: str | None  # one sentence; None after a connection without complaint
    waiting: int  # outgoing messages not yet acknowledged by the broker


class Listener(Protocol):
    """Who is told; always in the network thread, so: hand over and return."""

    def accepted(self, accepted: Accepted) -> None: ...
    def lost(self) -> None: ...
    def complained(self, sentence: str | None) -> None: ...
    def published(self, client: int, mid: int, refusal: str | None) -> None: ...
    def delivered(self, delivery: Delivery) -> None: ...
