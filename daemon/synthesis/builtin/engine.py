"""The built-in engine: Mandarin, English and Japanese from the first minute, on any board.

text -> voice and style -> pieces of phonemes -> Kokoro or hibari -> trimmed, levelled samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cosyvoice.text.annotations import AnnotationError
from daemon.synthesis.builtin import heart, kokoro, loudness, silence, styles, voices
from daemon.synthesis.builtin.model import ModelStore
from daemon.synthesis.builtin.phonemes import Phonemizer
from daemon.synthesis.builtin.version import version
from daemon.synthesis.builtin.voices import Share
from daemon.synthesis.engine import EngineError, Piece, SynthesisRequest, VoiceInfo

if TYPE_CHECKING:
    from daemon.synthesis.engine import Samples

LANGUAGES = ("zh", "en")  # Japanese is loaded when it is first asked for: it needs an extra

# Kokoro's memory grows with the length of a call: 120 tokens are about 6 s of speech.
KOKORO_MAX_TOKENS = 120
HEART_MAX_TOKENS = 300
# The first sound waits for the whole first piece: 16 Chinese characters take 0.5 s on two cores.
KOKORO_FIRST_MAX_CHARS = 16

SPEED_RANGE = (0.5, 2.0)  # of the two models


class BuiltinEngine:
    """Implements `daemon.synthesis.engine.Engine`."""

    name = voices.ENGINE
    sample_rate_hz = kokoro.SAMPLE_RATE_HZ

    def __init__(self, state_dir: Path, threads: int) -> None:
        self.state_dir = state_dir
        self._threads = threads
        self._kokoro: kokoro.Kokoro | None = None
        self._heart = heart.Heart()
        self._phonemizer = Phonemizer()

    @property
    def version(self) -> str:
        return version()

    def load(self, progress: Callable[[str], None]) -> None:
        """Loads both models and the text front end, so that the first announcement waits for nothing."""
        model = ModelStore(self.state_dir).prepare(progress)
        self._kokoro = kokoro.Kokoro(model, self._threads)
        self._kokoro.load()
        self._heart.load()
        self._phonemizer.load(LANGUAGES)

    def voices(self) -> list[VoiceInfo]:
        return list(voices.VOICES.values())

    def synthesize(
        self, request: SynthesisRequest, cancelled: Callable[[], bool], gentle: bool = False
    ) -> Iterator[Piece]:
        voice, unlike_voice = voices.choose(request.voice, request.language, request.text)
        language = voices.reading_language(request.language, voice)
        style, unlike_style = styles.choose(request.style, language)
        degraded = unlike_voice + unlike_style
        speed = min(max(request.speed * style.speed, SPEED_RANGE[0]), SPEED_RANGE[1])
        is_heart = voice == heart.NAME
        try:
            pieces = self._phonemizer.pieces(
                request.text,
                language,
                max_tokens=HEART_MAX_TOKENS if is_heart else KOKORO_MAX_TOKENS,
                first_max_chars=None if is_heart else KOKORO_FIRST_MAX_CHARS,
            )
        except AnnotationError as error:
            raise EngineError(str(error)) from error
        share = voices.ENGLISH_SHARES.get(voice) if any(piece.holds_english for piece in pieces) else None
        gain = np.float32(loudness.gain(voice, style.level_db))
        said = False
        for number, piece in enumerate(pieces):
            if cancelled():
                return
            samples = self._speak(piece.phonemes, voice, share, speed, request.seed + number, style)
            samples = silence.trim(samples, self.sample_rate_hz)
            if len(samples) == 0:
                continue
            said = True
            pause = silence.pause(piece.pause_s / speed, self.sample_rate_hz)
            samples = np.concatenate([loudness.limit(samples * gain), pause])
            yield Piece(samples=samples, degraded=degraded + piece.degraded)
            degraded = ()
        if not said:
            raise EngineError("the text holds nothing that can be said")

    def _speak(
        self,
        phonemes: str,
        voice: str,
        share: Share | None,
        speed: float,
        seed: int,
        style: styles.Style,
    ) -> Samples:
        if voice == heart.NAME:
            return self._heart.synthesize(phonemes, speed, seed, style)
        if self._kokoro is None:
            raise EngineError("the engine is not loaded")
        return self._kokoro.synthesize(phonemes, voice, speed, style, share)
