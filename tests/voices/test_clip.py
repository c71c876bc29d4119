"""Recordings from files that anyone may have made."""

import contextlib
import os
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from cosyvoice.errors import VoiceError
from cosyvoice.voices import clip
from tests.voices.signals import RATE_HZ, noise, silence, speech


def written(path: Path, samples: clip.Samples, rate_hz: int = RATE_HZ, **form: Any) -> Path:
    soundfile.write(path, samples, rate_hz, **form)
    return path


@pytest.mark.parametrize(
    ("suffix", "form"),
    [
        ("wav", {"subtype": "PCM_16"}),
        ("wav", {"subtype": "FLOAT"}),
        ("flac", {}),
        ("ogg", {"subtype": "VORBIS"}),
        ("opus", {"format": "OGG", "subtype": "OPUS"}),
        ("mp3", {}),
    ],
)
def test_every_format_gives_the_same_sound(suffix: str, form: dict[str, Any], tmp_path: Path) -> None:
    sound = speech(2.0)
    read = clip.read(written(tmp_path / f"a.{suffix}", sound, **form))
    assert read.sample_rate_hz == RATE_HZ
    assert read.duration_s == pytest.approx(2.0, abs=0.1)
    spectrum, expected = (np.abs(np.fft.rfft(s[:RATE_HZ])) for s in (read.samples, sound))
    likeness = spectrum @ expected / np.linalg.norm(spectrum) / np.linalg.norm(expected)
    assert likeness > 0.98


def test_channels_are_mixed_and_the_offset_is_removed(tmp_path: Path) -> None:
    sound = speech(1.0, peak=0.4)
    stereo = np.stack([sound + 0.2, np.full_like(sound, 0.1)], axis=1)
    read = clip.read(written(tmp_path / "a.wav", stereo, subtype="FLOAT"))
    assert read.samples == pytest.approx((sound - sound.mean()) / 2, abs=1e-6)


def test_a_file_of_hours_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    path = written(tmp_path / "long.flac", silence(600.0, 48000), 48000)
    tracemalloc.start()
    try:
        with pytest.raises(VoiceError, match=r"longer than 60 s: cut out"):
            clip.read(path)
        assert tracemalloc.get_traced_memory()[1] < 20 * 2**20
    finally:
        tracemalloc.stop()


def test_a_telephone_recording_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match="no sound above 4 kHz"):
        clip.read(written(tmp_path / "a.wav", speech(3.0, rate_hz=8000), 8000))


def test_many_channels_are_refused(tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match="has 6 channels"):
        clip.read(written(tmp_path / "a.wav", np.zeros((RATE_HZ, 6), dtype=np.float32)))


def test_another_format_is_named(tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match="is AIFF: only WAV, FLAC, MP3 and OGG"):
        clip.read(written(tmp_path / "a.aiff", speech(1.0)))


@pytest.mark.parametrize("data", [b"", b"RIFF", b"\x00\x00\x00\x20ftypM4A " + bytes(500), b"<html>" * 99])
def test_what_is_no_sound_is_told_what_to_do(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "memo.m4a"
    path.write_bytes(data)
    with pytest.raises(VoiceError, match=r"is no WAV, FLAC, MP3 or OGG.*ffmpeg -i"):
        clip.read(path)


@pytest.mark.parametrize("kept", [0.001, 0.3, 0.7])
def test_a_file_that_was_cut_short_gives_a_voice_error_or_what_is_left(kept: float, tmp_path: Path) -> None:
    whole = written(tmp_path / "a.flac", speech(2.0) + noise(2.0, -40)).read_bytes()
    path = tmp_path / "cut.flac"
    path.write_bytes(whole[: int(kept * len(whole))])
    with contextlib.suppress(VoiceError):
        assert clip.read(path).duration_s <= 2.0


def test_samples_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    sound = speech(1.0)
    sound[100] = np.nan
    with pytest.raises(VoiceError, match="no numbers"):
        clip.read(written(tmp_path / "a.wav", sound, subtype="FLOAT"))


def test_a_file_without_samples_is_refused(tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match="holds no sound"):
        clip.read(written(tmp_path / "a.wav", silence(0.0)))


def test_a_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.wav")
    with pytest.raises(VoiceError, match="is no file"):
        clip.read(tmp_path / "pipe.wav")


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match="No such file"):
        clip.read(tmp_path / "none.wav")
    with pytest.raises(VoiceError, match="Is a directory"):
        clip.read(tmp_path)


@pytest.mark.parametrize("after", [1.0, 0.4])
def test_flat_tops_are_found_even_where_the_sound_was_made_softer(after: float) -> None:
    for rate_hz in (16000, 48000, 96000):
        clean = speech(2.0, peak=1.0, rate_hz=rate_hz)
        assert clip.flat_tops(clean * np.float32(after), rate_hz) < 1e-4
        assert clip.flat_tops(np.clip(clean * 1.5, -1, 1) * np.float32(after), rate_hz) > 3e-3


def test_a_hum_is_not_taken_for_clipped() -> None:
    hum = np.sin(2 * np.pi * 100 * np.arange(96000) / 96000).astype(np.float32)
    assert clip.flat_tops(hum, 96000) == 0.0


def test_soft_sound_is_not_taken_for_clipped() -> None:
    steps = np.rint(speech(2.0, peak=8 / 2**15) * 2**15) / np.float32(2**15)
    assert clip.flat_tops(steps.astype(np.float32), RATE_HZ) == 0.0
