"""Prompt features against those of the published front end, for one clip."""

import importlib
import wave
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from cosyvoice.errors import VoiceError
from cosyvoice.voices.features import Clip, fbank80, log_mel128, mel80, resample

_GOLDEN = Path(__file__).parents[1] / "data/cosyvoice3/golden"
_TOLERANCE = 1e-4


def _golden(name: str) -> Tensor:
    with np.load(_GOLDEN / "features.npz") as arrays:
        return torch.from_numpy(arrays[name])


@pytest.fixture(scope="module")
def clip() -> Tensor:
    with wave.open(str(_GOLDEN / "prompt_24k.wav")) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    return torch.from_numpy(samples.astype(np.float32) / 32768)


def test_resampling_to_16_khz_is_as_published(clip: Tensor) -> None:
    torch.testing.assert_close(resample(clip, 24000, 16000), _golden("wav16"), atol=_TOLERANCE, rtol=0)


def test_the_mel_of_the_flow_is_as_published(clip: Tensor) -> None:
    torch.testing.assert_close(mel80(clip), _golden("mel80_24k"), atol=_TOLERANCE, rtol=0)


def test_the_mel_of_the_tokenizer_is_as_published(clip: Tensor) -> None:
    mel = log_mel128(resample(clip, 24000, 16000))
    torch.testing.assert_close(mel, _golden("logmel128_16k"), atol=_TOLERANCE, rtol=0)


@pytest.mark.parametrize("resampled_here", [False, True])
def test_the_filter_bank_of_the_speaker_encoder_is_as_published(clip: Tensor, resampled_here: bool) -> None:
    """A quiet bin holds rounding errors, dealt anew by another FFT library or 1e-7 more in the clip."""
    clip16 = resample(clip, 24000, 16000) if resampled_here else _golden("wav16")
    error = (fbank80(clip16) - _golden("fbank80_cmn")).abs()
    assert error.max() < 1e-3
    assert (error > _TOLERANCE).float().mean() < 0.005


@pytest.mark.parametrize("to_hz", [8000, 16000, 44100, 48000])
def test_a_tone_keeps_its_pitch_level_and_length_at_another_rate(to_hz: int) -> None:
    tone = _tone(24000)
    resampled = resample(tone, 24000, to_hz)
    assert len(resampled) == to_hz
    inner = slice(to_hz // 10, -to_hz // 10)  # a tone that begins at once has no place in the band
    torch.testing.assert_close(resampled[inner], _tone(to_hz)[inner], atol=1e-3, rtol=0)


def test_an_array_and_a_tensor_give_the_same(clip: Tensor) -> None:
    array: Clip = clip.numpy()
    assert torch.equal(mel80(array), mel80(clip))


def test_rates_without_a_ratio_of_small_numbers_are_refused(clip: Tensor) -> None:
    with pytest.raises(VoiceError, match="44101 Hz"):
        resample(clip, 44101, 24000)


@pytest.mark.parametrize("feature", [fbank80, log_mel128, mel80])
def test_a_clip_shorter_than_a_window_is_refused(feature: object) -> None:
    assert callable(feature)
    with pytest.raises(VoiceError, match="too short"):
        feature(torch.zeros(300))


def test_features_equal_those_of_torchaudio_where_it_imports() -> None:
    try:
        torchaudio = importlib.import_module("torchaudio")
    except (ImportError, OSError) as error:  # OSError: its x86-64 wheels from PyPI need CUDA libraries
        pytest.skip(f"torchaudio does not import here: {error}")
    clip16 = _golden("wav16")
    ours, theirs = resample(clip16, 16000, 24000), torchaudio.functional.resample(clip16, 16000, 24000)
    torch.testing.assert_close(ours, theirs, atol=_TOLERANCE, rtol=0)
    fbank = torchaudio.compliance.kaldi.fbank(clip16[None], num_mel_bins=80, dither=0, sample_frequency=16000)
    torch.testing.assert_close(fbank80(clip16), fbank - fbank.mean(0), atol=_TOLERANCE, rtol=0)


def _tone(rate_hz: int) -> Tensor:
    return 0.5 * torch.sin(2 * torch.pi * 440 / rate_hz * torch.arange(rate_hz))
