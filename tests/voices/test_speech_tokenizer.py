"""The speech tokenizer's inputs, outputs and needs."""

from pathlib import Path

import numpy as np
import pytest

from cosyvoice.errors import ModelError
from cosyvoice.voices import speech_tokenizer
from cosyvoice.weights import random_onnx

LOG_MEL = np.random.default_rng(0).standard_normal((128, 400), dtype=np.float32)


def test_a_second_becomes_25_tokens(tmp_path: Path) -> None:
    random_onnx.write_speech_tokenizer(tmp_path / speech_tokenizer.FILE, seed=0)
    tokens = speech_tokenizer.tokenize(tmp_path, LOG_MEL)
    assert tokens.shape == (100,)
    assert tokens.dtype == np.int32
    assert 0 <= tokens.min() <= tokens.max() < 6561


def test_a_missing_tokenizer_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(
        ModelError, match=r"speech_tokenizer_v3\.onnx is missing; run `cosyvoiced model prepare`"
    ):
        speech_tokenizer.tokenize(tmp_path, LOG_MEL)


def test_too_little_memory_is_told_before_the_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random_onnx.write_speech_tokenizer(tmp_path / speech_tokenizer.FILE, seed=0)
    monkeypatch.setattr(speech_tokenizer, "free_memory_bytes", lambda: 100 * 2**20)
    with pytest.raises(ModelError, match=r"needs 15\d MiB of memory, 100 are free: stop other programs"):
        speech_tokenizer.tokenize(tmp_path, LOG_MEL)


def test_free_memory_includes_swap(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 9000 kB\nMemAvailable:    1000 kB\nSwapFree:  24 kB\nHugePages_Total: 0\n")
    assert speech_tokenizer.free_memory_bytes(meminfo) == 1024 * 1024


@pytest.mark.parametrize("text", ["", "MemAvailable\n", "MemAvailable: much\nSwapFree: 1 kB\n"])
def test_a_system_that_does_not_tell_its_memory_is_not_held_against_anyone(text: str, tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text(text)
    assert speech_tokenizer.free_memory_bytes(tmp_path / "meminfo") is None
    assert speech_tokenizer.free_memory_bytes(tmp_path / "none") is None


def test_another_network_is_noticed(tmp_path: Path) -> None:
    random_onnx.write_speaker_encoder(tmp_path / speech_tokenizer.FILE, seed=0)
    with pytest.raises(ModelError, match="has 1 inputs instead of 2"):
        speech_tokenizer.tokenize(tmp_path, LOG_MEL)
