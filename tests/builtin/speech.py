"""Says a request and measures the voice in the samples."""

from typing import Any

import numpy as np

from daemon.synthesis.builtin.engine import BuiltinEngine
from daemon.synthesis.engine import Piece, SynthesisRequest

RATE_HZ = 24000


def pieces(engine: BuiltinEngine, text: str, language: str, voice: str, **fields: Any) -> list[Piece]:
    request = SynthesisRequest(text=text, language=language, voice=voice, **fields)
    return list(engine.synthesize(request, lambda: False))


def say(engine: BuiltinEngine, text: str, language: str, voice: str, **fields: Any) -> Any:
    return np.concatenate([piece.samples for piece in pieces(engine, text, language, voice, **fields)])


def f0_hz(samples: Any) -> Any:
    """F0 of each voiced frame of 40 ms, by the highest peak of the autocorrelation from 70 to 500 Hz."""
    frames = np.lib.stride_tricks.sliding_window_view(samples, RATE_HZ // 25)[:: RATE_HZ // 100]
    frames = frames[np.abs(frames).max(axis=1) > 0.1 * np.abs(samples).max()]
    frames = frames - frames.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(frames, 2 * frames.shape[1])
    correlation = np.fft.irfft(np.abs(spectrum) ** 2)[:, : frames.shape[1]]
    correlation /= correlation[:, :1] + 1e-9
    shortest, longest = RATE_HZ // 500, RATE_HZ // 70
    lag = shortest + correlation[:, shortest:longest].argmax(axis=1)
    strength = correlation[np.arange(len(lag)), lag]
    return RATE_HZ / lag[strength > 0.6]
