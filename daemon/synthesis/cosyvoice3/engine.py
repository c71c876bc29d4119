"""CosyVoice3 as an engine of the worker process: the family's own voices.

request -> voice file -> cosyvoice.engine -> samples, held back on a slow machine so that they play on
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch

from cosyvoice import model, pacing
from cosyvoice.config import MEL_FRAMES_PER_S, SAMPLE_RATE_HZ
from cosyvoice.engine import CosyVoice, Utterance, Voice
from cosyvoice.errors import CosyVoiceError
from cosyvoice.flow.attention import CHUNK_FRAMES
from cosyvoice.flow.prompt import checked_prompt
from cosyvoice.pacing import Pace
from cosyvoice.quality import QUALITIES
from cosyvoice.text import normalize
from cosyvoice.text.annotations import AnnotationError
from cosyvoice.voices import profile
from cosyvoice.voices.index import VoiceHeader
from cosyvoice.voices.profile import VoiceProfile
from cosyvoice.voices.store import VoiceStore
from daemon.config import voices_dir
from daemon.synthesis.cosyvoice3 import facts
from daemon.synthesis.cosyvoice3.memory import PaceMemory
from daemon.synthesis.cosyvoice3.rest import gentle_threads, rested, slowdown
from daemon.synthesis.engine import EngineError, EngineOptions, Piece, SynthesisRequest, VoiceInfo

if TYPE_CHECKING:
    from daemon.synthesis.engine import Samples
    from daemon.synthesis.facts import EngineFacts

LANGUAGES_WITH_RULES = ("zh", "en")
HOP_S = CHUNK_FRAMES / MEL_FRAMES_PER_S


class CosyVoice3Engine:
    """Implements `daemon.synthesis.engine.Engine`."""

    name = facts.NAME
    sample_rate_hz = SAMPLE_RATE_HZ

    def __init__(self, options: EngineOptions) -> None:
        self._options = options
        self._store = VoiceStore(voices_dir(options.state_dir))
        self._pace = PaceMemory(options.state_dir / "pace.json", options.quality, options.threads)
        self._speaker: CosyVoice | None = None
        self._voice: Voice | None = None
        self._voice_header: VoiceHeader | None = None

    @property
    def version(self) -> str:
        found = self._facts()
        return "" if found is None else found.version

    def load(self, progress: Callable[[str], None]) -> None:
        torch.set_num_threads(self._options.threads)
        try:
            loaded = model.load(self._options.model_dir, self._options.threads, progress)
        except CosyVoiceError as error:
            raise EngineError(str(error)) from error
        model.settle()
        # Ready without them: they are there before the first text has come through.
        threading.Thread(target=_load_rules, name="text rules", daemon=True).start()
        self._speaker = CosyVoice(loaded, QUALITIES[self._options.quality])

    def voices(self) -> list[VoiceInfo]:
        found = self._facts()
        return [] if found is None else list(found.voices.values())

    def synthesize(
        self, request: SynthesisRequest, cancelled: Callable[[], bool], gentle: bool = False
    ) -> Iterator[Piece]:
        if self._speaker is None:
            raise EngineError("the engine is not loaded")
        utterance = Utterance(
            request.text, request.language, style=request.style, seed=request.seed, speed=request.speed
        )
        try:
            samples = self._speaker.speak(utterance, self._voice_of(request.voice), cancelled)
            expected_s = pacing.expected_s(request.text, request.speed)
            threads = self._options.threads
            if gentle:
                torch.set_num_threads(gentle_threads(threads))
                pace = Pace(self._pace.rtf * slowdown(threads), expected_s)
                yield from _held_back(rested(samples, cancelled), pace)
            else:
                torch.set_num_threads(threads)
                yield from self._learning(samples, Pace(self._pace.rtf, expected_s), cancelled)
        except (CosyVoiceError, AnnotationError) as error:
            raise EngineError(str(error)) from error

    def _learning(
        self, samples: Iterator[torch.Tensor], pace: Pace, cancelled: Callable[[], bool]
    ) -> Iterator[Piece]:
        """The samples, held back as the pace wants; the time that they took is learnt from."""

        def counted() -> Iterator[torch.Tensor]:
            made_s = 0.0
            began_s = time.perf_counter()
            for part in samples:
                made_s += len(part) / SAMPLE_RATE_HZ
                yield part
            if made_s > 0 and not cancelled():
                self._pace.learn((time.perf_counter() - began_s) / made_s)

        yield from _held_back(counted(), pace)

    def _voice_of(self, name: str) -> Voice:
        """The voice, read again only when its file has changed. Raises `VoiceError`."""
        header = self._store.header(name)
        if self._voice is None or self._voice_header != header:
            self._voice = _voice(profile.read(self._store.path(name)))
            self._voice_header = header
        return self._voice

    def _facts(self) -> EngineFacts | None:
        options = self._options
        return facts.find(options.model_dir, self._store.folder, options.quality)


def _held_back(samples: Iterator[torch.Tensor], pace: Pace) -> Iterator[Piece]:
    """The same samples, the first of them as soon as the rest will not come too late."""
    held: list[Samples] = []
    made_s = 0.0
    began = False
    for part in samples:
        made_s += len(part) / SAMPLE_RATE_HZ
        held.append(part.numpy())
        began = began or pacing.may_begin(made_s, HOP_S, pace)
        if began:
            yield Piece(np.concatenate(held))
            held.clear()
    if held:
        yield Piece(np.concatenate(held))


def _load_rules() -> None:
    for language in LANGUAGES_WITH_RULES:
        normalize.load(language)


def _voice(read: VoiceProfile) -> Voice:
    tokens, mel, speaker = map(torch.from_numpy, read.prompt)
    return Voice(read.header.name, read.header.transcript, checked_prompt(tokens, mel, speaker))
