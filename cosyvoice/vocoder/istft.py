"""Between samples and spectrum: short frames of 16 samples, 4 apart, under a Hann window.

Both directions are products with a small matrix. A spectrum frame is a row of 18: nine real parts, then nine
imaginary parts.
"""

import functools
import math

import torch
from torch import Tensor

FRAME_SAMPLES = 16
HOP_SAMPLES = 4
BINS = FRAME_SAMPLES // 2 + 1
EDGE_SAMPLES = FRAME_SAMPLES // 2  # a frame is centred: half of the first one lies before the signal
_HOPS = FRAME_SAMPLES // HOP_SAMPLES


def stft(samples: Tensor) -> Tensor:
    """(N,) -> spectrum: (1 + (N - 16) / 4, 18), of the frames that lie whole within the samples."""
    return samples.unfold(0, FRAME_SAMPLES, HOP_SAMPLES) @ _analysis()


def windowed_frames(magnitude: Tensor, phase: Tensor) -> Tensor:
    """Magnitude and phase in radians, (T, 9) each -> (T, 16) frames of samples, for `overlap_add`."""
    spectrum = torch.cat((magnitude * phase.cos(), magnitude * phase.sin()), 1)  # (T, 18)
    return spectrum @ _synthesis()


def overlap_add(frames: Tensor, tail: Tensor | None, final: bool) -> tuple[Tensor, Tensor]:
    """Adds frames (T, 16) to what earlier ones left: the samples that no later frame touches, the new tail.

    `tail` is (3, 4), or None at the start: there T is at least 3, and the half frame before the signal is cut
    off, as is the one after its end. In the first hop and in the last the sum lacks a frame, and so must the
    sum of the squared windows that it is divided by.
    """
    count = len(frames)
    sums = frames.new_zeros(count + _HOPS - 1, HOP_SAMPLES)
    for hop in range(_HOPS):
        sums[hop : hop + count] += frames[:, hop * HOP_SAMPLES : (hop + 1) * HOP_SAMPLES]
    if tail is not None:
        sums[: _HOPS - 1] += tail
    squares = _window().square().view(_HOPS, HOP_SAMPLES)
    weights = squares.sum(0).repeat(len(sums), 1)
    first, end = 0, count
    if tail is None:
        first = EDGE_SAMPLES // HOP_SAMPLES
        weights[first] -= squares[-1]
    if final:
        weights[count] -= squares[0]
        end = count + 1
    samples = sums[first:end] / weights[first:end].to(sums)
    return samples.flatten(), sums[count:].clone()


def _window() -> Tensor:
    return torch.hann_window(FRAME_SAMPLES, dtype=torch.float64)


def _angles() -> Tensor:
    """Of each sample at each frequency, (16, 9) float64."""
    turns = torch.outer(torch.arange(FRAME_SAMPLES), torch.arange(BINS)).double() / FRAME_SAMPLES
    return 2 * math.pi * turns


@functools.cache
def _analysis() -> Tensor:
    """The windowed Fourier transform, (16, 18)."""
    angles = _angles()
    return (_window()[:, None] * torch.cat((angles.cos(), -angles.sin()), 1)).float()


@functools.cache
def _synthesis() -> Tensor:
    """Its inverse, windowed again, (18, 16): the bins between the ends stand for their mirror images too."""
    angles = _angles().T
    share = torch.full((BINS, 1), 2 / FRAME_SAMPLES, dtype=torch.float64)
    share[0] = share[-1] = 1 / FRAME_SAMPLES
    return (_window() * torch.cat((share * angles.cos(), -share * angles.sin()))).float()
