"""The fast English voice `heart`: hibari's model, ten times faster than Kokoro."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import hibari
import numpy as np
from hibari import dsp

from daemon.synthesis.builtin.styles import NEUTRAL, Style

if TYPE_CHECKING:
    from daemon.synthesis.engine import Samples

NAME = "heart"
VOICED_FROM_HZ = 40.0  # hibari.dsp.pulses: below it a frame has no voice
MAX_TOKENS = 398  # hibari.tts.MAX_PHONEMES, without the two pads


class Heart:
    """The model's session; noise comes from the seed, so the same call gives the same samples."""

    def __init__(self) -> None:
        self._voice: Any = None

    def load(self) -> None:
        # The path is given, so that the package's download of other voices is never reached.
        model = Path(hibari.__file__).with_name("assets") / "hibari.onnx"
        self._voice = hibari.Hibari(voice=NAME, model=str(model), threads=1)

    def synthesize(self, phonemes: str, speed: float, seed: int, style: Style = NEUTRAL) -> Samples:
        """(N,) float32 at 24 kHz; no known symbol gives no samples."""
        tokens = self._voice.ids(phonemes)[: MAX_TOKENS + 1]
        if len(tokens) < 3:
            return np.zeros(0, np.float32)
        if tokens[-1] != 0:
            tokens.append(0)
        inputs = {"ids": np.array([tokens], np.int64), "speed": np.array([speed], np.float32)}
        *spectrum, f0 = (output[0] for output in self._voice.sess.run(None, inputs))
        samples: Samples = dsp.synth(*spectrum, _melody(f0, style), np.random.default_rng(seed))
        return samples


def _melody(f0: Any, style: Style) -> Any:
    voiced = f0 > VOICED_FROM_HZ
    if not voiced.any():
        return f0
    mean = f0[voiced].mean()
    melody = (mean + (f0 - mean) * style.pitch_range) * style.pitch
    return np.where(voiced, np.maximum(melody, VOICED_FROM_HZ + 1), f0).astype(np.float32)
