"""One loudness for all voices, and a limiter so that loud speech never clips."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from daemon.synthesis.engine import Samples

# Speech level that every voice is brought to: loud enough for a small speaker, with room for peaks.
TARGET_DB = -20.0

# `speech_level_db` of each voice as its model speaks, over six sentences of tests/data/sentences.json.
MEASURED_DB = {
    "heart": -24.6,
    "zf_xiaoyi": -21.3,
    "zf_xiaoxiao": -18.2,
    "zm_yunxia": -23.1,
    "zm_yunxi": -22.4,
    "af_heart": -24.1,
    "af_bella": -23.4,
    "am_michael": -23.3,
    "am_fenrir": -20.2,
    "bf_emma": -21.7,
    "bm_george": -21.9,
    "jf_alpha": -21.8,
    "jm_kumo": -19.6,
}

KNEE = 0.7  # peaks above it are rounded off instead of cut
CEILING = 0.99


def gain(voice: str, level_db: float) -> float:
    """The factor that brings the voice to the common level, plus `level_db`."""
    return float(10 ** ((TARGET_DB - MEASURED_DB[voice] + level_db) / 20))


def limit(samples: Samples) -> Samples:
    """Samples within +-CEILING: untouched up to the knee, bent smoothly above it."""
    size = np.abs(samples)
    room = CEILING - KNEE
    bent = KNEE + room * np.tanh((size - KNEE) / room)
    return np.where(size > KNEE, np.copysign(bent, samples), samples).astype(np.float32)


def speech_level_db(samples: Samples, sample_rate_hz: int) -> float:
    """Mean level over the frames of 20 ms that speak: those within 25 dB of the loudest."""
    window = sample_rate_hz // 50
    power = np.mean(samples[: len(samples) // window * window].reshape(-1, window) ** 2, axis=1)
    return float(10 * np.log10(power[power > np.max(power) / 10**2.5].mean()))
