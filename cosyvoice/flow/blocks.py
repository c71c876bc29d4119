"""One of the DiT's 22 blocks."""

from collections.abc import Callable

import torch.nn.functional as F
from torch import Tensor, nn

from cosyvoice.config import FlowConfig
from cosyvoice.flow.embeddings import rotate_
from cosyvoice.layers import Linear

_NORM_EPS = 1e-6  # as published
Attend = Callable[[Tensor, Tensor, Tensor], Tensor]  # q, k, v, each (B, T, dim) -> (B, T, dim)


def modulated_norm(x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    """Layer norm of x (B, T, dim), scaled and shifted by the time's modulation (dim,) in the same pass."""
    return F.layer_norm(x, scale.shape, scale, shift, _NORM_EPS)


class Block(nn.Module):
    """Attention and a feed-forward, each normed by the time's modulation before and gated by it after."""

    def __init__(self, config: FlowConfig) -> None:
        super().__init__()
        dim, hidden = config.dim, config.dim * config.ff_mult
        self.rotated = config.head_dim
        self.qkv = Linear(dim, 3 * dim)
        self.out = Linear(dim, dim)
        self.ff1 = Linear(dim, hidden)
        self.ff2 = Linear(hidden, dim)

    def forward(self, x: Tensor, modulation: Tensor, turns: Tensor, attend: Attend) -> Tensor:
        """Changes x (B, T, dim) in place; `modulation`: (6, dim); `turns`: those of `rotary`."""
        shift1, scale1, gate1, shift2, scale2, gate2 = modulation
        q, k, v = self.qkv(modulated_norm(x, scale1, shift1)).chunk(3, dim=-1)  # (B, T, dim) each
        # Before the heads are split, so that only the first head is turned: the weights were trained so.
        rotate_(q[..., : self.rotated], turns)
        rotate_(k[..., : self.rotated], turns)
        x.addcmul_(self.out(attend(q, k, v)), gate1)
        h = F.gelu(self.ff1(modulated_norm(x, scale2, shift2)), approximate="tanh")  # (B, T, 2 * dim)
        return x.addcmul_(self.ff2(h), gate2)
