"""Test tones, and what to say about sound."""

import numpy as np
import numpy.typing as npt

Pcm16 = npt.NDArray[np.int16]

RATE_HZ = 24000


def tone(seconds: float, *, frequency_hz: float = 440.0, level: float = 0.5, rate_hz: int = RATE_HZ) -> Pcm16:
    """A cosine, so that its first and last samples are not zero."""
    time_s = np.arange(round(seconds * rate_hz)) / rate_hz
    wave = level * np.cos(2 * np.pi * frequency_hz * time_s)
    return np.rint(wave * 32767).astype("<i2")


def loudest_frequency_hz(samples: Pcm16, rate_hz: int) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return float(np.argmax(spectrum) * rate_hz / len(samples))


def rms(samples: Pcm16) -> float:
    return float(np.sqrt(np.mean(np.square(samples.astype(np.float64))))) / 32768


def longest_silence_s(samples: Pcm16, rate_hz: int) -> float:
    """The longest run of zeros."""
    edges = np.flatnonzero(np.concatenate([[1], samples, [1]]))
    return float(np.max(np.diff(edges)) - 1) / rate_hz


def largest_step(samples: Pcm16) -> int:
    """A click is a step that the tone itself does not take."""
    return int(np.max(np.abs(np.diff(np.concatenate([samples, [0]]).astype(np.int32)))))
