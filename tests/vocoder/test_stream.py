"""The whole vocoder against the goldens, and speech in parts against speech in one."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from cosyvoice.vocoder import stream
from cosyvoice.vocoder.istft import overlap_add, stft
from cosyvoice.vocoder.layers import Memory
from cosyvoice.vocoder.stream import VocoderStream
from tests.vocoder import tiny


def _speak(mel: Tensor, lengths: list[int], final: bool = True) -> Tensor:
    """The samples (1, N) of a mel that comes in parts."""
    voice = VocoderStream(tiny.vocoder())
    parts = torch.split(mel, lengths, dim=2)
    return torch.cat(
        [voice.extend(part, final and number == len(parts)) for number, part in enumerate(parts, start=1)], 1
    )


def _mel(frames: int) -> Tensor:
    return tiny.golden(True)["mel"].repeat(1, 1, -(-frames // 60))[..., :frames]


@pytest.mark.parametrize("final", tiny.FINALS)
def test_the_decoder_is_as_published(final: bool) -> None:
    golden, vocoder = tiny.golden(final), tiny.vocoder()
    mel = golden["mel"][0].T
    mel = F.pad(mel, (0, 0, 0, 4)) if final else mel[:-3]  # the published decoder never sees F0's look-ahead
    memory: Memory = {}
    spectrum = stft(F.pad(golden["source"][0], (8, 8), mode="reflect")[0])
    x = vocoder.pre(mel, memory)
    frames = vocoder.decode(x, spectrum[: 120 * len(x) + 1], memory)
    samples, _ = overlap_add(frames, None, final)
    wav = golden["wav"][0]
    torch.testing.assert_close(samples[: len(wav)].clamp(-0.99, 0.99), wav, atol=1e-4, rtol=0)


@pytest.mark.parametrize("final", tiny.FINALS)
def test_the_speech_is_as_published(final: bool) -> None:
    """The limiter is active here: 2e-3. Of it 1.5e-4 are used: the rounding of the published phase."""
    golden = tiny.golden(final)
    voice = VocoderStream(tiny.vocoder(), partial(tiny.golden_noise, final))
    speech = voice.extend(golden["mel"], final)
    length = golden["wav"].shape[1]
    torch.testing.assert_close(speech[:, :length], golden["wav"], atol=2e-3, rtol=0)


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(0, 60), min_size=1, max_size=4))
def test_speech_in_parts_is_speech_in_one(lengths: list[int]) -> None:
    mel = _mel(sum(lengths))
    speech = _speak(mel, lengths)
    assert speech.shape == (1, 480 * sum(lengths))
    torch.testing.assert_close(speech, _speak(mel, [sum(lengths)]), atol=1e-4, rtol=0)


@pytest.mark.parametrize("frames", [1, 2, 4, 50, 51])
def test_the_end_may_come_at_any_frame_and_in_an_empty_part(frames: int) -> None:
    mel = _mel(frames)
    torch.testing.assert_close(_speak(mel, [frames, 0]), _speak(mel, [frames]), atol=1e-4, rtol=0)


def test_the_length_of_a_block_is_not_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = _speak(_mel(60), [60])
    monkeypatch.setattr(stream, "BLOCK_FRAMES", 60)
    torch.testing.assert_close(_speak(_mel(60), [60]), blocks, atol=1e-4, rtol=0)


def test_eighty_milliseconds_wait_for_what_follows() -> None:
    waiting = 480 * 30 - _speak(_mel(30), [30], final=False).shape[1]
    assert waiting / 24000 == pytest.approx(0.08, abs=0.001)


def test_two_streams_do_not_hear_each_other() -> None:
    mel = _mel(40)
    alone = _speak(mel, [20, 20])
    one, other = VocoderStream(tiny.vocoder()), VocoderStream(tiny.vocoder())
    first = one.extend(mel[..., :20], False)
    other.extend(-mel[..., :17], False)
    assert torch.equal(torch.cat((first, one.extend(mel[..., 20:], True)), 1), alone)


def test_the_samples_are_within_the_limit_and_finite_on_any_mel() -> None:
    torch.manual_seed(0)
    speech = _speak(20 * torch.randn(1, 80, 30), [30])
    assert speech.isfinite().all()
    assert speech.abs().max() <= 0.99


def test_parts_cost_little_more_than_the_whole() -> None:
    """Nothing is computed twice; a part only rounds its tiles up."""
    assert _products(_mel(200), 50) < 1.05 * _products(_mel(200), 200)


def _products(mel: Tensor, part: int) -> int:
    with FlopCounterMode(display=False) as counter:
        _speak(mel, [part] * (mel.shape[2] // part))
    return int(counter.get_total_flops())
