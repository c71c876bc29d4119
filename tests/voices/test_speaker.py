"""The speaker encoder, and what its embeddings tell."""

from pathlib import Path

import numpy as np
import pytest

from cosyvoice.errors import ModelError
from cosyvoice.voices import speaker
from cosyvoice.voices.speaker import Floats
from cosyvoice.weights import random_onnx


def random_fbank(frames: int, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).standard_normal((frames, 80), dtype=np.float32)


def turned(cosine: float) -> Floats:
    """A vector (192,) with that cosine to the first axis."""
    vector = np.zeros(192, dtype=np.float32)
    vector[:2] = cosine, np.sqrt(1 - cosine**2)
    return 3 * vector


def test_an_embedding_has_192_values_and_tells_voices_apart(tmp_path: Path) -> None:
    random_onnx.write_speaker_encoder(tmp_path / speaker.FILE, seed=0)
    encoder = speaker.load(tmp_path)
    one, again, other = (encoder.embed(random_fbank(200, seed)) for seed in (0, 0, 1))
    assert one.shape == (192,)
    assert one.dtype == np.float32
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_a_missing_encoder_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"campplus\.onnx is missing; run `cosyvoiced model prepare`"):
        speaker.load(tmp_path)


@pytest.mark.parametrize("data", [b"", b"version https://git-lfs.github.com/spec/v1\n"])
def test_a_file_that_is_no_network_is_one_line(data: bytes, tmp_path: Path) -> None:
    (tmp_path / speaker.FILE).write_bytes(data)
    with pytest.raises(ModelError, match="cannot be loaded") as caught:
        speaker.load(tmp_path)
    assert len(str(caught.value).splitlines()) == 1


def test_another_network_is_noticed(tmp_path: Path) -> None:
    random_onnx.write_speech_tokenizer(tmp_path / speaker.FILE, seed=0)
    with pytest.raises(ModelError, match="has 2 inputs instead of 1"):
        speaker.load(tmp_path).embed(random_fbank(200))


@pytest.mark.parametrize(("frames", "count"), [(199, 0), (200, 1), (299, 1), (300, 2), (1000, 9)])
def test_windows_cover_two_seconds_each_without_their_mean(frames: int, count: int) -> None:
    windows = speaker.windows(random_fbank(frames) + 5)
    assert [window.shape for window in windows] == [(200, 80)] * count
    assert all(np.abs(window.mean(axis=0)).max() < 1e-4 for window in windows)


@pytest.mark.parametrize(
    ("cosine", "level"), [(0.6, "ok"), (0.4, "note"), (0.2, "problem"), (-0.5, "problem")]
)
def test_the_two_least_alike_windows_decide(cosine: float, level: str) -> None:
    finding = speaker.one_speaker([turned(1.0), turned(0.9), turned(cosine)])
    assert finding.level == level
    assert (finding.do is None) == (level == "ok")


def test_one_window_tells_nothing() -> None:
    assert speaker.one_speaker([turned(1.0)]).level == "note"
