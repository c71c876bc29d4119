"""The short transforms against PyTorch's."""

import pytest
import torch
import torch.nn.functional as F

from cosyvoice.vocoder.istft import overlap_add, stft, windowed_frames

_WINDOW = torch.hann_window(16)


def test_the_spectrum_is_pytorchs() -> None:
    torch.manual_seed(0)
    samples = torch.randn(480)
    theirs = torch.stft(samples, 16, 4, window=_WINDOW, return_complex=True)
    ours = stft(F.pad(samples[None], (8, 8), mode="reflect")[0])
    torch.testing.assert_close(ours, torch.cat((theirs.real, theirs.imag)).T, atol=1e-5, rtol=0)


@pytest.mark.parametrize("lengths", [[121], [3] + [1] * 118, [120, 1], [61, 0, 60]])
def test_the_samples_are_pytorchs_however_the_frames_are_cut(lengths: list[int]) -> None:
    torch.manual_seed(0)
    magnitude, phase = torch.rand(121, 9), torch.randn(121, 9)
    theirs = torch.istft(torch.polar(magnitude, phase).T, 16, 4, window=_WINDOW)
    frames = windowed_frames(magnitude, phase)
    tail, samples = None, []
    parts = torch.split(frames, lengths)
    for number, part in enumerate(parts, start=1):
        added, tail = overlap_add(part, tail, final=number == len(parts))
        samples.append(added)
    torch.testing.assert_close(torch.cat(samples), theirs, atol=1e-5, rtol=0)
