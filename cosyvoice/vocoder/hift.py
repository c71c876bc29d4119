"""HiFT, the vocoder: mel frames to spectrum frames of speech, by filtering a source of buzz and hiss.

T    mel frames, 50/s                          channels below: at the published width, 512
mel (T, 80) --pre--> (T, 512) --level 1--> (8 T, 256) --2--> (40 T, 128) --3--> (120 T + 1, 64)
                                   ^ source spectrum (120 T + 1, 18), at each level's rate
--post--> magnitude and phase, (120 T + 1, 9) each --istft--> 480 T samples at 24 kHz
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from cosyvoice.config import MEL_BINS, VocoderConfig
from cosyvoice.vocoder.f0 import F0Predictor
from cosyvoice.vocoder.istft import BINS, windowed_frames
from cosyvoice.vocoder.layers import Conv, Memory, Upsampling
from cosyvoice.vocoder.source import Source
from cosyvoice.vocoder.toom_cook import SnakeConv

# All sizes are those of the published configuration, cosyvoice3.yaml.
LOOK_AHEAD_FRAMES = 4
POST_KERNEL = 7
BLOCK_KERNELS = (3, 7, 11)
DILATIONS = (1, 3, 5)
_LEAK = 0.1
_LAST_LEAK = 0.01


@dataclass(frozen=True)
class LevelSizes:
    """One of the three steps up in rate."""

    factor: int
    up_kernel: int
    spectrum_stride: int  # source spectrum frames to a row of this level
    source_kernel: int

    @property
    def spectrum_kernel(self) -> int:
        return 2 * self.spectrum_stride if self.spectrum_stride > 1 else 1


LEVELS = (LevelSizes(8, 16, 15, 7), LevelSizes(5, 11, 3, 7), LevelSizes(3, 7, 1, 11))
SPECTRUM_PER_FRAME = math.prod(sizes.factor for sizes in LEVELS)


class Step(nn.Module):
    """x plus what two convolutions make of it, the first one dilated."""

    def __init__(self, channels: int, kernel: int, dilation: int) -> None:
        super().__init__()
        self.dilated = SnakeConv(channels, kernel, dilation)
        self.plain = SnakeConv(channels, kernel)

    def forward(self, x: Tensor, memory: Memory) -> Tensor:
        """x: (T, C) -> (T, C)."""
        y: Tensor = self.plain(self.dilated(x, memory), memory)
        return y.add_(x)


class ResidualBlock(nn.Module):
    """Steps with ever wider reach."""

    def __init__(self, channels: int, kernel: int) -> None:
        super().__init__()
        self.steps = nn.ModuleList(Step(channels, kernel, dilation) for dilation in DILATIONS)

    def forward(self, x: Tensor, memory: Memory) -> Tensor:
        """x: (T, C) -> (T, C)."""
        for step in self.steps:
            x = step(x, memory)
        return x


class Level(nn.Module):
    """Up in rate, the source added, then the mean of three residual blocks."""

    def __init__(self, channels: int, sizes: LevelSizes, mirrored: bool) -> None:
        super().__init__()
        self.up = Upsampling(2 * channels, channels, sizes.up_kernel, sizes.factor)
        self.mirrored = mirrored  # one row more than `factor` makes: a copy of the second before the first
        stride = sizes.spectrum_stride
        self.down = Conv(2 * BINS, channels, sizes.spectrum_kernel, stride=stride, start=stride - 1)
        self.source_block = ResidualBlock(channels, sizes.source_kernel)
        self.blocks = nn.ModuleList(ResidualBlock(channels, kernel) for kernel in BLOCK_KERNELS)

    def forward(self, x: Tensor, spectrum: Tensor, memory: Memory) -> Tensor:
        """x: (T, 2 C), spectrum: (S, 18) -> (T * factor, C), a row more where a mirrored signal begins."""
        begins = self.up not in memory
        x = self.up(F.leaky_relu(x, _LEAK), memory)
        if begins and self.mirrored:
            x = torch.cat((x[1:2], x))
        x = self.source_block(self.down(spectrum, memory), memory).add_(x)
        first, *others = self.blocks
        total: Tensor = first(x, memory)
        for block in others:
            total += block(x, memory)
        return total.div_(len(self.blocks))


class Vocoder(nn.Module):
    """All that has weights; `stream.VocoderStream` runs it."""

    def __init__(self, config: VocoderConfig) -> None:
        super().__init__()
        channels = config.channels
        self.f0 = F0Predictor(config)
        self.source = Source()
        self.pre = Conv(MEL_BINS, channels, LOOK_AHEAD_FRAMES + 1)
        self.levels = nn.ModuleList(
            Level(channels >> number, sizes, mirrored=number == len(LEVELS))
            for number, sizes in enumerate(LEVELS, start=1)
        )
        self.post = Conv(channels >> len(LEVELS), 2 * BINS, POST_KERNEL, start=POST_KERNEL - 1)

    def decode(self, x: Tensor, spectrum: Tensor, memory: Memory) -> Tensor:
        """x: (T, channels) of `pre`, source spectrum: (N, 18) -> frames of samples, (N, 16).

        N is 120 T, and one more where the signal begins.
        """
        for level in self.levels:
            x = level(x, spectrum, memory)
        x = self.post(F.leaky_relu(x, _LAST_LEAK, inplace=True), memory)  # (N, 18)
        return windowed_frames(x[:, :BINS].exp(), x[:, BINS:].sin())
