"""A Wyoming client over a real socket, with the library's own."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from wyoming.audio import AudioChunk, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.event import Event, Eventable
from wyoming.tts import (
    Synthesize,
    SynthesizeChunk,
    SynthesizeStart,
    SynthesizeStop,
    SynthesizeStopped,
    SynthesizeVoice,
)

DEADLINE_S = 30.0


class Heard(NamedTuple):
    """What came back for one text."""

    pcm: bytes
    sample_rate_hz: int
    error: str | None  # its code

    @property
    def duration_s(self) -> float:
        return len(self.pcm) / 2 / (self.sample_rate_hz or 1)


class Client:
    def __init__(self, connection: AsyncTcpClient) -> None:
        self._connection = connection

    async def send(self, message: Eventable) -> None:
        await self._connection.write_event(message.event())

    async def event(self) -> Event | None:
        """The next one; None once the server has closed."""
        async with asyncio.timeout(DEADLINE_S):
            return await self._connection.read_event()

    async def answer(self, streamed: bool = False) -> Heard:
        """All sound up to the end of the answer, or up to its error."""
        pcm, rate_hz = b"", 0
        while (event := await self.event()) is not None:
            if AudioChunk.is_type(event.type):
                chunk = AudioChunk.from_event(event)
                assert (chunk.width, chunk.channels) == (2, 1)
                pcm, rate_hz = pcm + chunk.audio, chunk.rate
            elif Error.is_type(event.type):
                return Heard(pcm, rate_hz, Error.from_event(event).code)
            elif (SynthesizeStopped if streamed else AudioStop).is_type(event.type):
                return Heard(pcm, rate_hz, None)
        raise AssertionError("the server closed without an answer")

    async def say(self, text: str, **voice: str) -> Heard:
        await self.send(Synthesize(text, SynthesizeVoice(**voice) if voice else None))
        return await self.answer()

    async def start_stream(self, chunks: Sequence[str]) -> None:
        await self.send(SynthesizeStart())
        for chunk in chunks:
            await self.send(SynthesizeChunk(chunk))

    async def end_stream(self, text: str) -> None:
        """As Home Assistant does: with the whole text once more, for servers that cannot stream."""
        await self.send(Synthesize(text))
        await self.send(SynthesizeStop())


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[Client]:
    connection = AsyncTcpClient("127.0.0.1", port)
    async with asyncio.timeout(DEADLINE_S):
        await connection.connect()
    try:
        yield Client(connection)
    finally:
        await connection.disconnect()
