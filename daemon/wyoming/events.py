"""Reads Wyoming's events from a stranger: every length is bounded, every fault is one error.

An event is a line of JSON with `type`, then `data_length` bytes of JSON, then `payload_length` bytes. The
library's own reader takes any length and trusts every type.
"""

import asyncio
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta
from wyoming.event import Event

from daemon.errors import AnnouncementError, Code

MAX_LINE_BYTES = 64 * 1024
MAX_DATA_BYTES = 256 * 1024  # room for the longest text, every character written as \uXXXX
MAX_PAYLOAD_BYTES = 1024 * 1024  # sound, which nobody here listens to
_BLOCK_BYTES = 64 * 1024

T = TypeVar("T")

_Length = Annotated[int, Meta(ge=0)]


class EventError(AnnouncementError):
    """What came is no event; where the next one begins is unknown."""


class _Header(msgspec.Struct):
    type: str
    data: dict[str, Any] | None = None
    data_length: _Length | None = None
    payload_length: _Length | None = None


async def read_event(reader: asyncio.StreamReader) -> Event | None:
    """The next event, without its payload; None when the client has left, be it in the middle of one.

    Raises:
        EventError: it is malformed, or too large.
        OSError: the connection broke.
    """
    try:
        line = await reader.readuntil(b"\n")
        header = _decoded(line, _Header)
        data = dict(header.data or {})
        if header.data_length:
            _check_size("data", header.data_length, MAX_DATA_BYTES)
            data |= _decoded(await reader.readexactly(header.data_length), dict[str, Any])
        if header.payload_length:
            _check_size("payload", header.payload_length, MAX_PAYLOAD_BYTES)
            await _skip(reader, header.payload_length)
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError as error:
        raise EventError(
            Code.PAYLOAD_TOO_LARGE, f"an event's first line is over {MAX_LINE_BYTES} bytes"
        ) from error
    return Event(header.type, data)


def _decoded(data: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise EventError(Code.BAD_JSON, f"this is no Wyoming event: {error}") from error


def _check_size(part: str, size_bytes: int, limit_bytes: int) -> None:
    if size_bytes > limit_bytes:
        raise EventError(
            Code.PAYLOAD_TOO_LARGE, f"an event's {part} has {size_bytes} bytes, the limit is {limit_bytes}"
        )


async def _skip(reader: asyncio.StreamReader, size_bytes: int) -> None:
    while size_bytes > 0:
        size_bytes -= len(await reader.readexactly(min(size_bytes, _BLOCK_BYTES)))
