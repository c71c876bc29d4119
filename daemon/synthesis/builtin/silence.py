"""Where the sound of a piece begins and ends, and how pieces meet without a click."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from daemon.synthesis.engine import Samples

WINDOW_S = 0.005
THRESHOLD = 0.01  # of the loudest window: -40 dB, below the softest final consonants that Whisper needs
MARGIN_BEFORE_S = 0.02  # an unvoiced onset starts below the threshold
MARGIN_AFTER_S = 0.05  # so does the end of a fading vowel
FADE_IN_S = 0.004
FADE_OUT_S = 0.02


def trim(samples: Samples, sample_rate_hz: int) -> Samples:
    """The piece without the silence at its ends, faded at both cuts; empty when nothing sounds."""
    window = round(WINDOW_S * sample_rate_hz)
    count = len(samples) // window
    if count == 0:
        return samples[:0]
    level = np.sqrt(np.mean(samples[: count * window].reshape(count, window) ** 2, axis=1))
    if level.max() == 0:
        return samples[:0]
    loud = np.flatnonzero(level > THRESHOLD * level.max())
    start = max(0, loud[0] * window - round(MARGIN_BEFORE_S * sample_rate_hz))
    end = min(len(samples), (loud[-1] + 1) * window + round(MARGIN_AFTER_S * sample_rate_hz))
    return fade(samples[start:end], sample_rate_hz)


def fade(samples: Samples, sample_rate_hz: int) -> Samples:
    """A copy whose ends rise from and fall to zero."""
    faded = samples.copy()
    rise = min(round(FADE_IN_S * sample_rate_hz), len(faded) // 2)
    fall = min(round(FADE_OUT_S * sample_rate_hz), len(faded) // 2)
    faded[:rise] *= np.linspace(0, 1, rise, dtype=np.float32)
    faded[len(faded) - fall :] *= np.linspace(1, 0, fall, dtype=np.float32)
    return faded


def pause(duration_s: float, sample_rate_hz: int) -> Samples:
    return np.zeros(round(duration_s * sample_rate_hz), np.float32)
