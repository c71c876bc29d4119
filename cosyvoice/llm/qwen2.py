"""The Qwen2 body, as the published model has it: pre-norm layers of grouped-query attention and SwiGLU.

Speech comes one token at a time, through 24 layers, so the price of each small operation counts: one row is
read by the same code as many, with about twenty operations a layer.

    R  rows read in this call        L  positions known after it
    G  query heads per key head      D  head_dim
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from cosyvoice.config import LlmConfig
from cosyvoice.layers import Linear
from cosyvoice.llm.kv_cache import KvCache

RMS_EPS = 1e-6  # rms_norm_eps of the published config


class RmsNorm(nn.Module):
    """`F.rms_norm`, in half its time for one row."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))
        # A tensor, since a number would be made into one at every call; here, not where the weights will be.
        self._eps = torch.full((), RMS_EPS, device="cpu")

    def forward(self, x: Tensor) -> Tensor:
        norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)  # (R, 1)
        scale = torch.addcmul(self._eps, norm, norm, value=1 / x.shape[-1]).rsqrt_()
        return (x * self.weight).mul_(scale)


class Attention(nn.Module):
    """Causal attention over the cache.

    The rows of `qkv` are ordered and scaled by `weights.fuse_qkv`: rotary pairs lie side by side, so that
    the rotation is one complex product, and queries come out divided by sqrt(D).
    """

    def __init__(self, config: LlmConfig) -> None:
        super().__init__()
        self._config = config
        self._rotated = (config.heads + config.kv_heads) * config.head_dim  # queries and keys
        self.qkv = Linear(config.hidden, self._rotated + config.kv_heads * config.head_dim)
        self.out = Linear(config.hidden, config.hidden, bias=False)

    def forward(self, x: Tensor, cache: KvCache, layer: int, turns: Tensor, mask: Tensor | None) -> Tensor:
        """x: (R, hidden); turns: (R, 1, D / 2) complex64; mask: (R, 1, L), needed for more than one row."""
        heads, kv_heads, head_dim = self._config.heads, self._config.kv_heads, self._config.head_dim
        rows, group = x.shape[0], heads // kv_heads
        qkv = self.qkv(x)  # (R, (heads + 2 kv_heads) D)
        pairs = qkv[:, : self._rotated].view(rows, heads + kv_heads, head_dim // 2, 2)
        torch.view_as_complex(pairs).mul_(turns)  # in place: turns the queries and keys within qkv
        queries, keys_values = qkv.split((heads * head_dim, 2 * kv_heads * head_dim), dim=-1)
        keys, values = cache.write(layer, keys_values.view(rows, 2, kv_heads, head_dim))  # (kv_heads, L, D)

        queries = queries.view(rows, kv_heads, group, head_dim).transpose(0, 1)
        queries = queries.reshape(kv_heads, rows * group, head_dim)
        scores = torch.bmm(queries, keys.transpose(1, 2))  # (kv_heads, R G, L)
        if mask is not None:
            scores.view(kv_heads, rows, group, -1).add_(mask)
        seen = torch.bmm(scores.softmax(-1), values)  # (kv_heads, R G, D)
        seen = seen.view(kv_heads, rows, group * head_dim).transpose(0, 1)
        out: Tensor = self.out(seen.reshape(rows, heads * head_dim))
        return out


class FeedForward(nn.Module):
    """SwiGLU."""

    def __init__(self, config: LlmConfig) -> None:
        super().__init__()
        self.gate_up = Linear(config.hidden, 2 * config.intermediate, bias=False)
        self.down = Linear(config.intermediate, config.hidden, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        gate, up = self.gate_up(x).chunk(2, dim=-1)  # each (R, intermediate)
        down: Tensor = self.down(F.silu(gate).mul_(up))
        return down


class Layer(nn.Module):
    """Attention, then feed-forward, each added to what came in."""

    def __init__(self, config: LlmConfig) -> None:
        super().__init__()
        self.attention_norm = RmsNorm(config.hidden)
        self.attention = Attention(config)
        self.feed_forward_norm = RmsNorm(config.hidden)
        self.feed_forward = FeedForward(config)

    def forward(self, x: Tensor, cache: KvCache, layer: int, turns: Tensor, mask: Tensor | None) -> Tensor:
        x = x + self.attention(self.attention_norm(x), cache, layer, turns, mask)
        return x.add_(self.feed_forward(self.feed_forward_norm(x)))


class Qwen2(nn.Module):
    """(R, hidden) embeddings of the next R positions -> (R, hidden) final-norm hidden states."""

    def __init__(self, config: LlmConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.norm = RmsNorm(config.hidden)

    def forward(self, x: Tensor, cache: KvCache) -> Tensor:
        """Reads on after the cache's positions, and adds the new ones to it.

        Raises:
            ValueError: the cache has no room for so many rows.
        """
        past, end = cache.length, cache.length + x.shape[0]
        if end > cache.capacity:
            raise ValueError(f"{end} positions do not fit a cache of {cache.capacity}")
        turns = cache.rotations[past:end, None]  # (R, 1, D / 2)
        mask = None if x.shape[0] == 1 else causal_mask(past, end)
        for index, layer in enumerate(self.layers):
            x = layer(x, cache, index, turns, mask)
        cache.length = end
        hidden: Tensor = self.norm(x)
        return hidden


def causal_mask(past: int, end: int) -> Tensor:
    """(end - past, 1, end): 0 where a row may look, -inf at the positions after its own."""
    return torch.full((end - past, end), float("-inf")).triu_(past + 1)[:, None]
