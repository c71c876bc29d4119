"""The rewritten graph against the stock one, and the session on top of it."""

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from daemon.synthesis.builtin import graph
from daemon.synthesis.builtin.engine import BuiltinEngine
from daemon.synthesis.builtin.graph_recipe import signed_weights_pay
from daemon.synthesis.builtin.kokoro import SAMPLE_RATE_HZ, Kokoro
from daemon.synthesis.builtin.model import ModelStore
from daemon.synthesis.builtin.silence import trim
from daemon.synthesis.builtin.voices import Share

PHONEMES = "ɕi↓i→ʨi→ i↓ʨiŋ→ ɕi↓xau↓lɤ, ʨʰiŋ↓ kʰwai↘tʰjɛn→ lai↗."
VOICE = "zf_xiaoyi"


@pytest.fixture(scope="module")
def kokoro(engine: BuiltinEngine, state_dir: Path) -> Kokoro:
    kokoro = Kokoro(ModelStore(state_dir).ready, threads=2)
    kokoro.load()
    return kokoro


def log_spectrum(samples: Any) -> Any:
    """Mean spectrum of every 100 ms in dB, in 40 bands up to 8 kHz, floored 50 dB below the loudest."""
    length = SAMPLE_RATE_HZ // 10
    frames = samples[: len(samples) // length * length].reshape(-1, length)
    power = np.abs(np.fft.rfft(frames * np.hanning(length)))[:, :800].reshape(len(frames), 40, 20) ** 2
    level = 10 * np.log10(power.mean(axis=2) + 1e-12)
    return np.maximum(level, level.max() - 50)


def stock_samples(kokoro: Kokoro, state_dir: Path) -> Any:
    session = onnxruntime.InferenceSession(str(ModelStore(state_dir).joined))
    tokens = [0, *(kokoro.tokens[symbol] for symbol in PHONEMES if symbol in kokoro.tokens), 0]
    style = kokoro.pack(VOICE)[len(tokens) - 3][None].astype(np.float32)
    inputs = {"tokens": np.array([tokens]), "style": style, "speed": np.ones(1, np.float32)}
    return session.run(None, inputs)[0]


def test_the_rewritten_operators_make_the_sound_of_the_stock_ones(
    kokoro: Kokoro, state_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph, "MARGIN_FRAMES", 1000)  # nothing is cropped
    graph.rewrite(ModelStore(state_dir).joined, tmp_path / "whole.onnx", signed_weights_pay())
    whole = Kokoro(tmp_path / "whole.onnx", threads=2)
    whole.load()
    made, expected = whole.synthesize(PHONEMES, VOICE, 1.0), stock_samples(kokoro, state_dir)
    assert len(made) == len(expected)
    distance_db = np.abs(log_spectrum(made) - log_spectrum(expected)).mean()
    assert distance_db < 1.0  # 0.45; another sentence of the same voice is about 10 dB away


def test_cropping_takes_silence_only(kokoro: Kokoro, state_dir: Path) -> None:
    cropped, stock = kokoro.synthesize(PHONEMES, VOICE, 1.0), stock_samples(kokoro, state_dir)
    assert len(cropped) < len(stock) - SAMPLE_RATE_HZ
    spoken, expected = (len(trim(samples, SAMPLE_RATE_HZ)) for samples in (cropped, stock))
    assert abs(spoken - expected) < 0.1 * SAMPLE_RATE_HZ


def test_unsigned_weights_give_the_same_durations_and_spectrum(
    kokoro: Kokoro, state_dir: Path, tmp_path: Path
) -> None:
    graph.rewrite(ModelStore(state_dir).joined, tmp_path / "u8.onnx", signed=False)
    unsigned = Kokoro(tmp_path / "u8.onnx", threads=2)
    unsigned.load()
    one, other = (model.synthesize(PHONEMES, VOICE, 1.0) for model in (kokoro, unsigned))
    assert len(one) == len(other)
    assert np.abs(log_spectrum(one) - log_spectrum(other)).mean() < 1.0


def test_a_graph_of_another_model_is_refused(tmp_path: Path) -> None:
    import hibari

    other = Path(hibari.__file__).with_name("assets") / "hibari.onnx"
    with pytest.raises(ValueError, match="not the graph"):
        graph.rewrite(other, tmp_path / "out.onnx", signed=True)


def test_little_silence_is_made_before_and_after(kokoro: Kokoro) -> None:
    samples = kokoro.synthesize(PHONEMES, VOICE, 1.0)
    loud = np.flatnonzero(np.abs(samples) > 0.02 * np.abs(samples).max())
    assert loud[0] < 0.2 * SAMPLE_RATE_HZ
    assert len(samples) - loud[-1] < 0.35 * SAMPLE_RATE_HZ


def test_speed_changes_the_length(kokoro: Kokoro) -> None:
    slow, fast = (len(kokoro.synthesize(PHONEMES, VOICE, speed)) for speed in (0.8, 1.25))
    assert slow > 1.3 * fast


def test_unknown_symbols_are_passed_over(kokoro: Kokoro) -> None:
    assert len(kokoro.synthesize("☃☃", VOICE, 1.0)) == 0
    assert np.array_equal(kokoro.synthesize("xau↓☃", VOICE, 1.0), kokoro.synthesize("xau↓", VOICE, 1.0))


def test_the_number_of_threads_does_not_change_the_samples(kokoro: Kokoro, state_dir: Path) -> None:
    single = Kokoro(ModelStore(state_dir).ready, threads=1)
    single.load()
    assert np.array_equal(single.synthesize(PHONEMES, VOICE, 1.0), kokoro.synthesize(PHONEMES, VOICE, 1.0))


def test_a_share_reaches_from_one_voice_to_the_other(kokoro: Kokoro) -> None:
    own = kokoro.synthesize(PHONEMES, VOICE, 1.0)
    none = kokoro.synthesize(PHONEMES, VOICE, 1.0, share=Share("af_heart", timbre=0.0, prosody=0.0))
    half = kokoro.synthesize(PHONEMES, VOICE, 1.0, share=Share("af_heart", timbre=0.5, prosody=0.0))
    whole = kokoro.synthesize(PHONEMES, VOICE, 1.0, share=Share("af_heart", timbre=1.0, prosody=1.0))
    assert np.array_equal(none, own)
    assert len(half) == len(own)  # timbre leaves the durations alone
    assert not np.array_equal(half, own)
    assert len(whole) == len(kokoro.synthesize(PHONEMES, "af_heart", 1.0))
