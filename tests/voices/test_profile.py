"""A voice as one file: whole, private, and refused when it is damaged."""

import dataclasses
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cosyvoice.errors import VoiceError
from cosyvoice.voices import profile
from tests.voices.voice_files import HEADER, prompt, written_voice


def test_a_voice_comes_back_as_it_was_written(tmp_path: Path) -> None:
    made = prompt()
    header = profile.write(tmp_path / "mama.safetensors", HEADER, made)
    read = profile.read(tmp_path / "mama.safetensors")
    assert read.header == header
    for was, now in zip(made, read.prompt, strict=True):
        assert now.dtype == was.dtype
        assert np.array_equal(now, was)
        assert now.flags.writeable


@pytest.mark.parametrize(
    ("tokens", "frames", "kept"), [(75, 150, 75), (76, 151, 75), (70, 150, 70), (80, 149, 74)]
)
def test_tokens_and_mel_are_trimmed_to_the_same_time(tokens: int, frames: int, kept: int) -> None:
    mel = np.arange(80 * frames, dtype=np.float32).reshape(80, frames)
    made = profile.make_prompt(np.arange(tokens, dtype=np.int32), mel, np.ones(192, dtype=np.float32))
    assert made.speech_tokens.shape == (kept,)
    assert made.mel.shape == (2 * kept, 80)
    assert np.array_equal(made.mel, mel.T[: 2 * kept])


def test_a_voice_is_its_owners_only(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        path = written_voice(tmp_path / "mama.safetensors")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_voice_is_replaced_in_one_step(tmp_path: Path) -> None:
    path = written_voice(tmp_path / "mama.safetensors", seed=0)
    with path.open("rb") as old:
        written_voice(path, seed=1)
        assert old.read() != path.read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["mama.safetensors"]


def test_a_failed_write_leaves_the_old_voice_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written_voice(tmp_path / "mama.safetensors", seed=0)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(VoiceError, match="cannot be written: No space left"):
        written_voice(path, seed=1)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["mama.safetensors"]


def test_a_changed_byte_is_noticed_wherever_it_is(tmp_path: Path) -> None:
    path = written_voice(tmp_path / "mama.safetensors")
    whole = path.read_bytes()
    start = 8 + int.from_bytes(whole[:8], "little")
    for position in (start, start + 300, start + 20_000, len(whole) - 1):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        with pytest.raises(VoiceError, match="is damaged: its checksum is another"):
            profile.read(path)


@pytest.mark.parametrize(
    "change",
    [
        {"speech_tokens": np.full(75, 6561, dtype=np.int32)},
        {"speech_tokens": np.full(75, -1, dtype=np.int32)},
        {"speech_tokens": np.zeros(74, dtype=np.int32)},
        {"speech_tokens": np.zeros(75, dtype=np.int64)},
        {"mel": np.full((150, 80), np.nan, dtype=np.float32)},
        {"mel": np.zeros((149, 80), dtype=np.float32)},
        {"speaker": np.zeros(192, dtype=np.float32)},
        {"speaker": np.ones(191, dtype=np.float32)},
    ],
)
def test_values_that_no_network_takes_are_never_written(change: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(VoiceError):
        profile.write(tmp_path / "mama.safetensors", HEADER, prompt()._replace(**change))
    assert list(tmp_path.iterdir()) == []


def test_a_voice_without_a_told_gender_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / "mama.safetensors"
    profile.write(path, dataclasses.replace(HEADER, gender=None), prompt())
    assert profile.read(path).header.gender is None
