"""How a DiT knows where a frame is and how far the solver has come."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from cosyvoice.layers import Conv1d

ROTARY_BASE = 10_000.0
TIME_CHANNELS = 256
_TIME_SCALE = 1000.0  # of the published time embedding: t runs from 0 to 1, its sinusoids were made for steps
POSITION_KERNEL = 31
POSITION_GROUPS = 16


def rotary(first: int, last: int, channels: int) -> Tensor:
    """How each pair of channels turns at the frames [first, last): (T, channels / 2) complex64, of size 1."""
    exponents = torch.arange(0, channels, 2, dtype=torch.float32) / channels
    angles = torch.outer(torch.arange(first, last).float(), ROTARY_BASE**-exponents)  # (T, channels / 2)
    return torch.polar(torch.ones_like(angles), angles)


def rotate_(x: Tensor, turns: Tensor) -> None:
    """Turns the neighbouring pairs of x (B, T, channels) in place."""
    torch.view_as_complex(x.view(*x.shape[:-1], -1, 2)).mul_(turns)


def time_sinusoids(time: float) -> Tensor:
    """(1, 256) float32: sines, then cosines, of a solver time in [0, 1]."""
    half = TIME_CHANNELS // 2
    frequencies = torch.exp(torch.arange(half).float() * -(math.log(10_000) / (half - 1)))
    angles = _TIME_SCALE * time * frequencies
    return torch.cat((angles.sin(), angles.cos()))[None]


class PositionConv(nn.Module):
    """Two causal grouped convolutions over time, which tell a frame its neighbourhood."""

    CONTEXT_FRAMES = POSITION_KERNEL - 1

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.conv1 = Conv1d(dim, dim, POSITION_KERNEL, groups=POSITION_GROUPS)
        self.conv2 = Conv1d(dim, dim, POSITION_KERNEL, groups=POSITION_GROUPS)

    def forward(self, x: Tensor, context: Tensor | None) -> tuple[Tensor, Tensor]:
        """The embedding of x (B, T, dim), and the context for the frames that follow.

        `context`: (2, B, dim, 30), what the two convolutions saw last; None at the beginning of the speech.
        """
        if context is None:
            context = x.new_zeros(2, x.shape[0], x.shape[2], self.CONTEXT_FRAMES)
        seen1 = torch.cat((context[0], x.mT), dim=2)  # (B, dim, 30 + T)
        h = F.mish(self.conv1(seen1))  # (B, dim, T)
        seen2 = torch.cat((context[1], h), dim=2)  # (B, dim, 30 + T)
        h = F.mish(self.conv2(seen2))  # (B, dim, T)
        ends = [seen[..., -self.CONTEXT_FRAMES :] for seen in (seen1, seen2)]
        return h.mT, torch.stack(ends)
