"""One client: its requests are read while the one before is spoken, and given up when it leaves."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import aclosing

from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.error import Error
from wyoming.event import Eventable, async_write_event
from wyoming.ping import Pong
from wyoming.tts import SynthesizeStopped

from daemon.audio.wav import SAMPLE_BYTES
from daemon.errors import AnnouncementError, Code
from daemon.jobs.job import Utterance
from daemon.jobs.studio import Studio
from daemon.mqtt.intake import Defaults
from daemon.synthesis.engine import VoiceInfo
from daemon.wyoming import messages
from daemon.wyoming.events import read_event
from daemon.wyoming.info import info
from daemon.wyoming.messages import Chunk, Describe, Hint, Ping, Start, Stop, Synthesize
from daemon.wyoming.script import Script

log = logging.getLogger(__name__)

IDLE_S = 300.0  # an assistant may think for long in the middle of its answer
SEND_DEADLINE_S = 30.0
LINGER_S = 2.0
MAX_WAITING_REQUESTS = 8
CHUNK_S = 0.1
PAUSE_S = 0.25  # between two utterances, as the engines make it between sentences


class _Request:
    """What a client wants to hear, as far as it is known."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.utterances: asyncio.Queue[Utterance | None] = asyncio.Queue()

    def add(self, text: str) -> None:
        for utterance in self.script.add(text):
            self.utterances.put_nowait(utterance)

    def end(self) -> None:
        for utterance in self.script.end():
            self.utterances.put_nowait(utterance)
        self.utterances.put_nowait(None)


class Connection:
    """Serves one client, from its first event to its last."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        studio: Studio,
        defaults: Callable[[], Defaults],
        voices: Callable[[], Mapping[str, VoiceInfo]],
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._studio = studio
        self._defaults = defaults
        self._voices = voices
        self._requests: asyncio.Queue[_Request] = asyncio.Queue(MAX_WAITING_REQUESTS)
        self._growing: _Request | None = None  # its text is still being written
        self._speaking = False
        self._heard_at_s = 0.0  # on the event loop's clock

    @property
    def _peer(self) -> str:
        address = self._writer.get_extra_info("peername")
        return str(address[0]) if address else "that has left"

    async def run(self) -> None:
        """Serves until the client leaves, is silent for too long, or was told of an error.

        An error ends the connection: the clients there are wait for the end of the sound or of the
        connection, and Home Assistant would keep what it has got by then as the sound of this text.
        """
        try:
            await self._serve()
        except AnnouncementError as error:
            log.warning("the Wyoming client %s gets the error %s: %s", self._peer, error.code, error.message)
            await self.refuse(error)
        except OSError as error:  # a deadline's TimeoutError, too
            log.info(
                "the Wyoming client %s is lost: %s", self._peer, str(error) or "it does not take its sound"
            )
        finally:
            self._writer.transport.abort()  # all that is wanted has been sent

    async def refuse(self, error: AnnouncementError) -> None:
        """Tells why there is no more sound, and waits a little for the client to leave."""
        try:
            async with asyncio.timeout(LINGER_S):
                await self._send(Error(error.message, str(error.code)))
                self._writer.write_eof()
                while await self._reader.read(2**16):  # unread bytes would take the error away from it
                    pass
        except OSError:
            log.debug("the Wyoming client %s does not wait for its error", self._peer)

    async def _serve(self) -> None:
        work = (self._read(), self._answer(), self._watch())
        tasks = [asyncio.create_task(part) for part in work]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome

    async def _read(self) -> None:
        """Takes events until the client leaves."""
        self._heard()
        while (event := await read_event(self._reader)) is not None:
            self._heard()
            message = messages.parse(event)
            if message is not None:
                await self._take(message)

    async def _watch(self) -> None:
        """Waits until the client is silent for too long while nothing is spoken to it."""
        while (left_s := self._heard_at_s + IDLE_S - asyncio.get_running_loop().time()) > 0:
            await asyncio.sleep(left_s)
            if self._speaking:
                self._heard()

    def _heard(self) -> None:
        self._heard_at_s = asyncio.get_running_loop().time()

    async def _take(self, message: messages.Message) -> None:
        match message:
            case Describe():
                await self._send(info(self._voices().values()))
            case Ping(text):
                await self._send(Pong(text))
            case Start(hint):
                self._end_growing()
                self._growing = self._open(hint, streamed=True)
            case Chunk(text) if self._growing is not None:
                self._growing.add(text)
            case Stop():
                self._end_growing()
            case Synthesize(text, hint) if self._growing is None:  # else: for servers that cannot stream
                request = self._open(hint, streamed=False)
                request.add(text)
                request.end()

    def _open(self, hint: Hint | None, streamed: bool) -> _Request:
        request = _Request(Script(hint, streamed, self._defaults(), self._voices()))
        try:
            self._requests.put_nowait(request)
        except asyncio.QueueFull as error:
            raise AnnouncementError(
                Code.QUEUE_FULL, f"{MAX_WAITING_REQUESTS} requests of this client wait already"
            ) from error
        return request

    def _end_growing(self) -> None:
        if self._growing is not None:
            self._growing.end()
            self._growing = None

    async def _answer(self) -> None:
        while True:
            await self._speak(await self._requests.get())

    async def _speak(self, request: _Request) -> None:
        """Speaks a request as its text comes. Raises `AnnouncementError`."""
        begun = False
        while (utterance := await request.utterances.get()) is not None:
            self._speaking = True
            if begun:
                await self._send_sound(bytes(SAMPLE_BYTES * int(PAUSE_S * self._studio.sample_rate_hz)))
            async with aclosing(self._studio.speak(utterance)) as speech:
                async for pcm in speech:
                    if not begun:
                        await self._send(AudioStart(self._studio.sample_rate_hz, SAMPLE_BYTES, 1))
                        begun = True
                    await self._send_sound(pcm)
            self._speaking = False
            self._heard()
        if not begun:
            raise AnnouncementError(Code.NOTHING_TO_SAY, "the text holds nothing that can be spoken")
        await self._send(AudioStop())
        if request.script.streamed:
            await self._send(SynthesizeStopped())

    async def _send_sound(self, pcm: bytes) -> None:
        rate_hz = self._studio.sample_rate_hz
        size = SAMPLE_BYTES * int(CHUNK_S * rate_hz)
        for start in range(0, len(pcm), size):
            await self._send(AudioChunk(rate_hz, SAMPLE_BYTES, 1, pcm[start : start + size]))

    async def _send(self, message: Eventable) -> None:
        async with asyncio.timeout(SEND_DEADLINE_S):
            await async_write_event(message.event(), self._writer)
