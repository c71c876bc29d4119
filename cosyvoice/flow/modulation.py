"""What a solver time does to the DiT: a shift, a scale and a gate for each of its layers (AdaLN-zero).

The modulations depend on nothing but the time, and a quality preset has at most ten times. So the weights
that make them, two fifths of the DiT, are needed once for a table and never again.
"""

from collections.abc import Sequence
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from cosyvoice.config import FlowConfig
from cosyvoice.errors import ModelError
from cosyvoice.flow.embeddings import TIME_CHANNELS, time_sinusoids
from cosyvoice.layers import Linear

ROWS_PER_BLOCK = 6  # (shift, scale, gate) of the attention, then of the feed-forward
FINAL_ROWS = 2  # (scale, shift)


def rows(config: FlowConfig) -> int:
    """How many vectors modulate the whole DiT."""
    return ROWS_PER_BLOCK * config.depth + FINAL_ROWS


class Modulations(Protocol):
    """Either of the two classes below."""

    def at(self, time: float) -> Tensor:
        """(6 * depth + 2, dim) float32, the rows of the blocks and then the final two.

        A scale has the one of `1 + scale` already in it: it is the weight of a layer norm as it stands.
        """
        ...


class ComputedModulations(nn.Module):
    """Modulations computed anew at each call, as published."""

    def __init__(self, config: FlowConfig) -> None:
        super().__init__()
        self.time1 = Linear(TIME_CHANNELS, config.dim)
        self.time2 = Linear(config.dim, config.dim)
        self.blocks = nn.ModuleList(
            Linear(config.dim, ROWS_PER_BLOCK * config.dim) for _ in range(config.depth)
        )
        self.final = Linear(config.dim, FINAL_ROWS * config.dim)

    def at(self, time: float) -> Tensor:
        """As `Modulations.at`."""
        h = F.silu(self.time2(F.silu(self.time1(time_sinusoids(time)))))  # (1, dim)
        blocks = [linear(h).unflatten(-1, (ROWS_PER_BLOCK, -1)) for linear in self.blocks]  # (1, 6, dim)
        for block in blocks:
            block[:, (1, 4)] += 1
        final = self.final(h).unflatten(-1, (FINAL_ROWS, -1))  # (1, 2, dim)
        final[:, 0] += 1
        return torch.cat([*blocks, final], dim=1)[0]


class TabulatedModulations(nn.Module):
    """Modulations looked up in a table."""

    def __init__(self, config: FlowConfig, times: Sequence[float]) -> None:
        super().__init__()
        self.times = tuple(times)
        self.table = nn.Parameter(torch.empty(len(self.times), rows(config), config.dim), requires_grad=False)

    def at(self, time: float) -> Tensor:
        """As `Modulations.at`.

        Raises:
            ModelError: the table has no such time.
        """
        if time not in self.times:
            raise ModelError([f"the prepared model has no modulations for the time {time}: prepare it again"])
        return self.table[self.times.index(time)]


def tabulate(modulations: Modulations, times: Sequence[float]) -> Tensor:
    """The table of `TabulatedModulations`: (len(times), 6 * depth + 2, dim) float32."""
    return torch.stack([modulations.at(time) for time in times])
