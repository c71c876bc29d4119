"""What the language model remembers of the positions it has read: an explicit value, passed to each call."""

from dataclasses import dataclass

import torch
from torch import Tensor

from cosyvoice.config import LlmConfig

ROTARY_BASE = 1e6  # rope_theta of the published Qwen2 config


@dataclass
class KvCache:
    """Keys and values of the positions read so far, in memory reserved once.

    entries: (layers, capacity, 2, kv_heads, head_dim) float32; keys (rotated) are 0, values 1. Position by
        position, as the fused projection gives them, so that one copy a layer stores both.
    rotations: (capacity, head_dim / 2) complex64, unit length: the rotary turn of each position.
    length: positions that are filled.
    """

    entries: Tensor
    rotations: Tensor
    length: int = 0

    @property
    def capacity(self) -> int:
        return self.entries.shape[1]

    def write(self, layer: int, keys_values: Tensor) -> tuple[Tensor, Tensor]:
        """Stores (rows, 2, kv_heads, head_dim) after the filled positions.

        Returns:
            All keys and all values up to the last row written, each (kv_heads, length + rows, head_dim).
        """
        end = self.length + keys_values.shape[0]
        entries = self.entries[layer, :end]  # (end, 2, kv_heads, head_dim)
        entries[self.length :] = keys_values
        keys, values = entries.transpose(0, 2).unbind(1)  # each (kv_heads, end, head_dim)
        return keys, values

    def truncate(self, length: int) -> None:
        """Forgets all but the first `length` positions."""
        self.length = min(self.length, length)

    def copy(self, length: int) -> Tensor:
        """The entries of the first `length` positions, in memory of their own."""
        return self.entries[:, :length].clone()

    def restore(self, entries: Tensor) -> None:
        """Takes over the entries of a `copy`: the cache is then as long as they are."""
        self.length = entries.shape[1]
        self.entries[:, : self.length] = entries


def empty(config: LlmConfig, capacity: int) -> KvCache:
    """A cache for `capacity` positions; untouched ones cost no memory (24 KiB each as published)."""
    shape = (config.layers, capacity, 2, config.kv_heads, config.head_dim)
    return KvCache(torch.empty(shape), rotations(capacity, config.head_dim))


def rotations(positions: int, head_dim: int) -> Tensor:
    """exp(i * position * frequency), (positions, head_dim / 2) complex64."""
    exponents = torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim
    angles = torch.outer(torch.arange(positions, dtype=torch.float32), ROTARY_BASE**-exponents)
    return torch.polar(torch.ones_like(angles), angles)
