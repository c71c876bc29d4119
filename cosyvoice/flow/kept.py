"""How the keys and values of finished frames are kept: exactly, or in a quarter of the memory."""

from dataclasses import dataclass
from enum import Enum, auto

import torch
from torch import Tensor

from cosyvoice.int8.quantize import quantize_rows


class Keeping(Enum):
    """The precision of what is kept."""

    FLOAT32 = auto()
    INT8 = auto()  # with a scale for each frame and head: heads differ in size, and so do frames


@dataclass(frozen=True)
class KeptFrames:
    """The keys and values of a span of frames, of each block of the DiT.

    numbers: (depth, 2, B, T, heads, head_dim) float32 or int8; keys are 0, values 1.
    scales: (depth, 2, B, T, heads, 1) float32, what 1 stands for in int8; None for float32.
    """

    numbers: Tensor
    scales: Tensor | None

    @property
    def frames(self) -> int:
        return self.numbers.shape[3]

    @property
    def nbytes(self) -> int:
        return self.numbers.nbytes + (0 if self.scales is None else self.scales.nbytes)

    def write(self, block: int, k: Tensor, v: Tensor) -> None:
        """Takes a block's keys and values, (B, T, dim) float32 each."""
        for which, x in enumerate((k, v)):
            numbers = self.numbers[block, which]  # (B, T, heads, head_dim)
            if self.scales is None:
                numbers.copy_(x.view_as(numbers))
            else:
                rounded, scales = quantize_rows(x.reshape(-1, numbers.shape[-1]))  # a row for each head
                numbers.copy_(rounded.view_as(numbers))
                self.scales[block, which] = scales.view(*numbers.shape[:-1], 1)

    def read(self, block: int, out: Tensor) -> None:
        """Writes a block's keys and values to `out`, (2, B, T, dim) float32."""
        numbers = self.numbers[block]  # (2, B, T, heads, head_dim)
        by_head = out.view_as(numbers)
        by_head.copy_(numbers)
        if self.scales is not None:
            by_head.mul_(self.scales[block])


def room(keeping: Keeping, depth: int, batch: int, frames: int, heads: int, head_dim: int) -> KeptFrames:
    """Frames of a DiT of `depth` blocks, of which nothing is written yet."""
    rows = (depth, 2, batch, frames, heads)
    if keeping is Keeping.FLOAT32:
        return KeptFrames(torch.empty(*rows, head_dim), None)
    return KeptFrames(torch.empty(*rows, head_dim, dtype=torch.int8), torch.empty(*rows, 1))
