"""Length-prefixed msgpack frames over a pipe: how the daemon and its child processes talk.

A frame is a 4-byte big-endian length and one msgpack-encoded tagged struct. No pickle: a frame can
only ever become one of the structs that the receiver names.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, TypeVar

import msgspec

if TYPE_CHECKING:
    import asyncio  # 7 MiB that a child, which reads by blocking, does not pay

MAX_FRAME_BYTES = 64 * 2**20  # ten minutes of 24 kHz 16-bit mono are 28 MiB
_LENGTH = struct.Struct(">I")

M = TypeVar("M")


class FrameError(Exception):
    """The other side sent something that is not a frame of this protocol, or went away in the middle."""


class Frame(msgspec.Struct, frozen=True, tag=True):
    """Base of every message between the daemon and a child process."""


class Ready(Frame, frozen=True):
    """First frame of every child: it is loaded and listens. `details` is what the child tells of itself."""

    details: dict[str, Any] = {}


class NotReady(Frame, frozen=True):
    """In place of `Ready`: the child cannot serve, for a reason that the user should read, and ends."""

    message: str


class Codec(Generic[M]):
    """Encodes any frame; decodes only the union of structs `types`."""

    def __init__(self, types: Any) -> None:
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder: msgspec.msgpack.Decoder[M] = msgspec.msgpack.Decoder(types)

    def encode(self, message: Frame) -> bytes:
        body = self._encoder.encode(message)
        if len(body) > MAX_FRAME_BYTES:
            raise FrameError(f"a frame of {len(body)} bytes is over the limit of {MAX_FRAME_BYTES}")
        return _LENGTH.pack(len(body)) + body

    def decode(self, body: bytes) -> M:
        try:
            return self._decoder.decode(body)
        except msgspec.DecodeError as error:
            raise FrameError(f"not a frame of this protocol: {error}") from error

    async def read(self, reader: asyncio.StreamReader) -> M | None:
        """The next message, or None at a clean end of the stream. Raises `FrameError`."""
        head = b""
        try:
            head = await reader.readexactly(_LENGTH.size)
            return self.decode(await reader.readexactly(_checked_length(head)))
        except EOFError as error:  # asyncio's IncompleteReadError
            if not head and not getattr(error, "partial", b""):
                return None
            raise FrameError("the stream ended inside a frame") from error

    def read_blocking(self, stream: BinaryIO) -> M | None:
        """As `read`, for the child's side. Raises `FrameError`."""
        head = stream.read(_LENGTH.size)
        if not head:
            return None
        if len(head) < _LENGTH.size:
            raise FrameError("the stream ended inside a frame")
        length = _checked_length(head)
        body = stream.read(length)
        if len(body) < length:
            raise FrameError("the stream ended inside a frame")
        return self.decode(body)


def _checked_length(head: bytes) -> int:
    length: int = _LENGTH.unpack(head)[0]
    if length > MAX_FRAME_BYTES:
        raise FrameError(f"a frame of {length} bytes is announced, the limit is {MAX_FRAME_BYTES}")
    return length
