"""Who sees whom: whole, or chunk by chunk."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

CHUNK_FRAMES = 50  # 1 s: the chunk that the network was trained with for streaming


@dataclass(frozen=True)
class Attention:
    """How far a frame sees.

    `chunk_frames`: up to the end of its own chunk, counted from the beginning of the prompt; None: all.
    `masked`: hide what it must not see by a mask, as published, where else the hidden is never multiplied.
    """

    chunk_frames: int | None
    masked: bool = False

    def windows(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Cuts the frames [first, last) where the view changes: each part sees up to its own end."""
        step = self.chunk_frames or last
        while first < last:
            end = min((first // step + 1) * step, last)
            yield first, end
            first = end

    def attend(self, q: Tensor, k: Tensor, v: Tensor, heads: int) -> Tensor:
        """(B, T, dim): queries (B, T, dim) of the last T of the L frames of k and v (B, L, dim)."""
        # (B, heads, T or L, head_dim) each
        q, k, v = (x.view(*x.shape[:-1], heads, -1).transpose(1, 2) for x in (q, k, v))
        last = k.shape[2]
        first = last - q.shape[2]
        if self.masked:
            seen = F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask(first, last))
        else:
            parts = [
                F.scaled_dot_product_attention(q[:, :, a - first : b - first], k[:, :, :b], v[:, :, :b])
                for a, b in self.windows(first, last)
            ]
            seen = parts[0] if len(parts) == 1 else torch.cat(parts, dim=2)  # (B, heads, T, head_dim)
        return seen.transpose(1, 2).flatten(2)

    def mask(self, first: int, last: int) -> Tensor:
        """(T, L) bool: which frames each of the frames [first, last) sees."""
        ends = [end for begin, end in self.windows(first, last) for _ in range(begin, end)]
        return torch.arange(last) < torch.tensor(ends)[:, None]


WHOLE = Attention(None)
CHUNKED = Attention(CHUNK_FRAMES)
