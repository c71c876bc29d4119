"""Speech for whoever plays it himself: neither queue nor speaker, else as for an announcement."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from daemon.errors import AnnouncementError
from daemon.jobs.job import Utterance
from daemon.jobs.rendering import Rendering
from daemon.storage.phrases import PhraseCache
from daemon.synthesis.engines import Engines
from daemon.synthesis.facts import SAMPLE_RATE_HZ
from daemon.tasks import handed_over


class Studio:
    """Speaks one utterance at a time, so that an announcement waits for one at most."""

    sample_rate_hz = SAMPLE_RATE_HZ

    def __init__(
        self,
        engines: Engines,
        cache: PhraseCache,
        refusal: Callable[[Utterance], AnnouncementError | None],
    ) -> None:
        """`refusal` tells why no engine must speak an utterance now; the phrase cache still may."""
        self._engines = engines
        self._cache = cache
        self._refusal = refusal
        self._turn = asyncio.Lock()

    def speak(self, utterance: Utterance) -> AsyncGenerator[bytes, None]:
        """Yields the speech as 16-bit mono PCM; closing the generator cancels it.

        The next utterance does not wait for this one's listener, however slowly it takes the sound.

        Raises:
            AnnouncementError: it cannot be spoken, or not now.
        """
        pieces: asyncio.Queue[bytes | None] = asyncio.Queue()
        return handed_over(lambda: self._make(utterance, pieces), lambda: pieces.put_nowait(None), pieces.get)

    async def _make(self, utterance: Utterance, pieces: "asyncio.Queue[bytes | None]") -> None:
        async with self._turn:
            rendering = Rendering.of(utterance, self._engines, self._cache)
            with self._cache.hold(*rendering.keys):
                if not rendering.wav.exists() and (refusal := self._refusal(utterance)) is not None:
                    raise refusal
                async with aclosing(rendering.pieces()) as source:
                    async for pcm in source:
                        pieces.put_nowait(pcm)
