"""Sounds with the rhythm of speech, for tests of what is measured on recordings."""

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float32]

RATE_HZ = 24000
SYLLABLES_PER_S = 5


def speech(duration_s: float, pitch_hz: float = 140.0, peak: float = 0.5, rate_hz: int = RATE_HZ) -> Samples:
    """A buzz (N,) that swells and fades with each syllable, without a pause between them."""
    time_s = np.arange(round(duration_s * rate_hz)) / rate_hz
    buzz = sum(np.sin(2 * np.pi * pitch_hz * n * time_s + n * n) / n for n in range(1, 20))
    swell = 0.55 - 0.45 * np.cos(2 * np.pi * SYLLABLES_PER_S * time_s)
    sound = buzz * swell
    return np.asarray(peak * sound / np.abs(sound).max(), dtype=np.float32)


def silence(duration_s: float, rate_hz: int = RATE_HZ) -> Samples:
    return np.zeros(round(duration_s * rate_hz), dtype=np.float32)


def noise(duration_s: float, level_db: float, rate_hz: int = RATE_HZ, seed: int = 0) -> Samples:
    """White noise (N,) of that RMS level."""
    hiss = np.random.default_rng(seed).standard_normal(round(duration_s * rate_hz))
    return (hiss * 10 ** (level_db / 20)).astype(np.float32)


def joined(*parts: Samples) -> Samples:
    return np.concatenate(parts)
