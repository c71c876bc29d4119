"""What a client asks for, with every type checked; one struct for each event that the server answers."""

from typing import Any

import msgspec
from wyoming.event import Event

from daemon.errors import AnnouncementError, Code


class Hint(msgspec.Struct, frozen=True):
    """The voice that a client would like."""

    name: str | None = None
    language: str | None = None  # such as zh, zh-CN or zh_CN
    speaker: str | None = None  # of a voice with several; here, another way to name a voice


class Describe(msgspec.Struct, frozen=True):
    """What are you?"""


class Ping(msgspec.Struct, frozen=True):
    """Are you there?"""

    text: str | None = None


class Synthesize(msgspec.Struct, frozen=True):
    """Speak a whole text."""

    text: str
    voice: Hint | None = None


class Start(msgspec.Struct, frozen=True):
    """Speak a text that follows, chunk by chunk."""

    voice: Hint | None = None


class Chunk(msgspec.Struct, frozen=True):
    """More of that text."""

    text: str


class Stop(msgspec.Struct, frozen=True):
    """That was the text."""


Message = Describe | Ping | Synthesize | Start | Chunk | Stop

_KINDS: dict[str, type[Message]] = {
    "describe": Describe,
    "ping": Ping,
    "synthesize": Synthesize,
    "synthesize-start": Start,
    "synthesize-chunk": Chunk,
    "synthesize-stop": Stop,
}


def parse(event: Event) -> Message | None:
    """The message of an event; None for one that is not for this server, as the protocol wants.

    Raises:
        AnnouncementError: `bad_json`: a field has another type than the protocol gives it, or is missing.
    """
    kind: Any = _KINDS.get(event.type)
    if kind is None:
        return None
    try:
        message: Message = msgspec.convert(event.data, kind)
    except msgspec.ValidationError as error:
        raise AnnouncementError(Code.BAD_JSON, f"{event.type}: {error}") from error
    return message
