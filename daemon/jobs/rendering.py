"""Makes the sound of one job: from the phrase cache, or by the engine into it."""

import asyncio
import itertools
import logging
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Self

from daemon.audio.wav import SAMPLE_BYTES, WavError, WavWriter, read_blocks
from daemon.errors import AnnouncementError, Code
from daemon.jobs.job import Utterance
from daemon.storage import phrases
from daemon.storage.phrases import Phrase, PhraseCache
from daemon.synthesis.engine import SynthesisRequest
from daemon.synthesis.engines import Engines
from daemon.synthesis.facts import SAMPLE_RATE_HZ, Route
from daemon.synthesis.slot import EngineUnavailable

log = logging.getLogger(__name__)


class Rendering:
    """One announcement's speech as it comes into being; afterwards, what is known of it."""

    def __init__(
        self,
        request_of: Callable[[str], SynthesisRequest],
        routes: tuple[Route, ...],
        engines: Engines,
        cache: PhraseCache,
    ) -> None:
        """`request_of` makes the request for a voice; the first of `routes` that can be gone is taken."""
        self._request_of = request_of
        self._routes = routes
        self._engines = engines
        self._cache = cache
        self._pcm_bytes = 0
        self._writer: WavWriter | None = None
        self.sample_rate_hz = SAMPLE_RATE_HZ
        self._take(routes[0])
        self.cached = False
        self.whole = False  # `wav` is there, from the first sample to the last
        self.rtf: float | None = None
        self.disk_error: AnnouncementError | None = None

    @classmethod
    def of(cls, utterance: Utterance, engines: Engines, cache: PhraseCache) -> Self:
        """The rendering of an utterance by whichever engine can be had for it."""
        routes = engines.routes(utterance.voice, utterance.language, utterance.text)
        return cls(utterance.synthesis_request, routes, engines, cache)

    @property
    def voice(self) -> str:
        return self._route.voice

    @property
    def engine(self) -> str:
        return self._route.engine.name

    @property
    def wav(self) -> Path:
        return self._cache.wav(self._key)

    @property
    def degraded(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._degraded))

    @property
    def keys(self) -> tuple[str, ...]:
        """Every phrase that this may become, by whichever route."""
        return tuple(self._key_of(route) for route in self._routes)

    @property
    def duration_s(self) -> float:
        return self._pcm_bytes / SAMPLE_BYTES / self.sample_rate_hz

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The speech as 16-bit PCM, in order. Raises `AnnouncementError` when no engine can make it.

        An engine that cannot be had hands over to the next one, unless something was heard already.
        """
        for route, following in itertools.zip_longest(self._routes, self._routes[1:]):
            self._take(route)
            try:
                async with aclosing(self._by_route(may_refuse=following is not None)) as source:
                    async for pcm in source:
                        self._pcm_bytes += len(pcm)
                        yield pcm
            except EngineUnavailable as error:
                if following is None or self._pcm_bytes > 0:
                    raise
                log.warning(
                    "%s speaks in the place of %s: %s", following.engine.name, route.engine.name, error
                )
            else:
                return

    def _take(self, route: Route) -> None:
        """Goes this way from here on."""
        self._route = route
        self._request = self._request_of(route.voice)
        self._degraded = list(route.degraded)
        self._key = self._key_of(route)

    def _key_of(self, route: Route) -> str:
        return phrases.key(self._request_of(route.voice), route.engine.version_of(route.voice))

    async def _by_route(self, may_refuse: bool) -> AsyncGenerator[bytes, None]:
        phrase = await asyncio.to_thread(self._cache.find, self._key)
        if phrase is None and may_refuse:
            refusal = self._engines.refusal(self._route.engine)
            if refusal is not None:
                raise EngineUnavailable(Code.THROTTLED, refusal)
        async with aclosing(self._from_engine() if phrase is None else self._from_cache(phrase)) as source:
            async for pcm in source:
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
        supervisor = self._engines.supervisor(self._route.engine)
        try:
            async with aclosing(supervisor.synthesize(self._request, self._engines.gentle)) as pieces:
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
                self._cache.check_room()
                self._writer = WavWriter(self.wav, self.sample_rate_hz).__enter__()
            self._writer.write(pcm)
        except (AnnouncementError, OSError) as error:
            self._lose_file(error)

    def _finish(self) -> None:
        if self.disk_error is not None or self._writer is None:
            return
        phrase = Phrase(
            engine=self.engine,
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
