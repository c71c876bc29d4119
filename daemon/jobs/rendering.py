"""Makes the sound of one job: from the phrase cache, or by the engine into it."""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

from daemon.audio.wav import SAMPLE_BYTES, WavError, WavWriter, read_blocks
from daemon.errors import AnnouncementError, Code
from daemon.storage import phrases
from daemon.storage.phrases import Phrase, PhraseCache
from daemon.synthesis.engine import SynthesisRequest
from daemon.synthesis.engines import EngineFacts
from daemon.synthesis.supervisor import Supervisor

log = logging.getLogger(__name__)


class Rendering:
    """One announcement's speech as it comes into being; afterwards, what is known of it."""

    def __init__(
        self,
        request: SynthesisRequest,
        engine: EngineFacts,
        supervisor: Supervisor,
        cache: PhraseCache,
        degraded: tuple[str, ...],
    ) -> None:
        self._request = request
        self._engine = engine
        self._supervisor = supervisor
        self._cache = cache
        self._degraded = list(degraded)
        self._key = phrases.key(request, engine.version)
        self._pcm_bytes = 0
        self._writer: WavWriter | None = None
        self.sample_rate_hz = engine.sample_rate_hz
        self.cached = False
        self.whole = False  # `wav` is there, from the first sample to the last
        self.rtf: float | None = None
        self.disk_error: AnnouncementError | None = None

    @property
    def voice(self) -> str:
        return self._request.voice

    @property
    def wav(self) -> Path:
        return self._cache.wav(self._key)

    @property
    def degraded(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._degraded))

    @property
    def duration_s(self) -> float:
        return self._pcm_bytes / SAMPLE_BYTES / self.sample_rate_hz

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The speech as 16-bit PCM, in order. Raises `AnnouncementError` when the engine fails."""
        phrase = await asyncio.to_thread(self._cache.find, self._key)
        source = self._from_engine() if phrase is None else self._from_cache(phrase)
        async with aclosing(source):
            async for pcm in source:
                self._pcm_bytes += len(pcm)
                yield pcm

    async def _from_cache(self, phrase: Phrase) -> AsyncGenerator[bytes, None]:
        self._degraded += phrase.degraded
        try:
            for pcm in read_blocks(self.wav):
                self.cached = self.whole = True
                yield pcm
        except (OSError, WavError) as error:
            await asyncio.to_thread(self._cache.drop, self._key)
            raise AnnouncementError(Code.ENGINE_FAILED, f"the cached phrase is damaged: {error}") from error

    async def _from_engine(self) -> AsyncGenerator[bytes, None]:
        synthesis_s = 0.0
        try:
            async with aclosing(self._supervisor.synthesize(self._request)) as pieces:
                async for piece in pieces:
                    synthesis_s += piece.synthesis_s
                    self._keep(piece.pcm)
                    self._degraded += piece.degraded
                    yield piece.pcm
            if self._pcm_bytes == 0:
                raise AnnouncementError(Code.ENGINE_FAILED, "the engine made no sound of this text")
            self.rtf = synthesis_s / self.duration_s
            await asyncio.to_thread(self._finish)
        finally:
            if self._writer is not None:
                self._writer.discard()

    def _keep(self, pcm: bytes) -> None:
        """Writes a piece; a full disk costs the file, not the speech."""
        if self.disk_error is not None:
            return
        try:
            if self._writer is None:
                self._writer = WavWriter(self.wav, self.sample_rate_hz).__enter__()
            self._writer.write(pcm)
        except (AnnouncementError, OSError) as error:
            self._lose_file(error)

    def _finish(self) -> None:
        if self.disk_error is not None or self._writer is None:
            return
        phrase = Phrase(
            engine=self._engine.name,
            voice=self._request.voice,
            sample_rate_hz=self.sample_rate_hz,
            duration_s=self.duration_s,
            degraded=self.degraded,
        )
        try:
            self._cache.describe(self._key, phrase)
            self._writer.finish()
        except (AnnouncementError, OSError) as error:
            self._lose_file(error)
        else:
            self.whole = True

    def _lose_file(self, error: AnnouncementError | OSError) -> None:
        if isinstance(error, OSError):
            reason = os.strerror(error.errno or 0)
            error = AnnouncementError(Code.DISK_FULL, f"{self.wav} cannot be written: {reason}")
        log.warning("%s", error.message)
        self.disk_error = error
