"""Which tensors the files of a prepared folder hold: known before one of them is read."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from cosyvoice.config import MEL_BINS, ModelConfig
from cosyvoice.flow import denoise, modulation
from cosyvoice.int8.quantize import quantize_rows
from cosyvoice.llm.weights import TEXT_EMBEDDING
from cosyvoice.weights import manifest
from cosyvoice.weights.networks import FLOW, LLM, VOCODER, Network
from cosyvoice.weights.rules import Rule, Shape

# Of the flow: the weights that only the table of modulations is made of, and what a prepared one has instead.
MODULATIONS = "modulations."
TABLE = f"{MODULATIONS}table"  # `modulation.tabulate`
START = "start"  # `denoise.unconditional_start`
_WEIGHT, _SCALE = ".weight", ".scale"
_BLOCK_VALUES = 2**23  # quantised at once: its float32 temporaries take 3 x 32 MiB


class Stored(NamedTuple):
    """A tensor as it lies in a file."""

    dtype: torch.dtype
    shape: Shape

    def __str__(self) -> str:
        return f"{str(self.dtype).removeprefix('torch.')} {self.shape}"

    @property
    def nbytes(self) -> int:
        return self.dtype.itemsize * torch.Size(self.shape).numel()


@dataclass(frozen=True)
class TensorFile:
    """One file of a prepared folder: a rule for each of its tensors, int8 or float32."""

    name: str
    network: Network
    rules: tuple[Rule, ...]
    is_int8: Callable[[str], bool]
    constants: Mapping[str, Stored] = field(default_factory=dict)  # computed by the network, not by a rule

    def stored(self, config: ModelConfig) -> dict[str, Stored]:
        """Every tensor of the file; found by making them of tensors that have a shape and no values."""
        published = self.network.published(config)
        found = dict(self.constants)
        for rule in self.rules:
            sources = (torch.empty(published[source], device="meta") for source in rule.sources)
            for name, tensor in self.store(rule.target, rule.make(*sources).float()):
                found[name] = Stored(tensor.dtype, tuple(tensor.shape))
        return found

    def store(self, target: str, made: Tensor) -> Iterator[tuple[str, Tensor]]:
        """A tensor of ours as one float32 tensor, or as int8 rows and their float32 scales."""
        if not self.is_int8(target):
            yield target, made
            return
        weight, scale = _quantize(made)
        yield target, weight
        yield scale_name(target), scale


def scale_name(weight_name: str) -> str:
    """`a.b.weight` -> `a.b.scale`."""
    return weight_name.removesuffix(_WEIGHT) + _SCALE


def tensor_files(config: ModelConfig, times: int) -> tuple[TensorFile, ...]:
    """The four files; the flow's holds a table of modulations for that many time points."""
    llm, flow = LLM.rules(config), FLOW.rules(config)
    flow_constants = {
        TABLE: Stored(torch.float32, (times, modulation.rows(config.flow), config.flow.dim)),
        START: Stored(torch.float32, (1, denoise.START_FRAMES, MEL_BINS)),
    }
    return (
        TensorFile(
            manifest.TEXT_EMBEDDING,
            LLM,
            tuple(rule for rule in llm if rule.target == TEXT_EMBEDDING),
            TEXT_EMBEDDING.__eq__,
        ),
        TensorFile(
            manifest.LLM, LLM, tuple(rule for rule in llm if rule.target != TEXT_EMBEDDING), LLM.is_int8
        ),
        TensorFile(
            manifest.FLOW,
            FLOW,
            tuple(rule for rule in flow if not rule.target.startswith(MODULATIONS)),
            FLOW.is_int8,
            flow_constants,
        ),
        TensorFile(manifest.VOCODER, VOCODER, tuple(VOCODER.rules(config)), VOCODER.is_int8),
    )


def _quantize(weight: Tensor) -> tuple[Tensor, Tensor]:
    """`quantize_rows`, a block of rows at a time, so that a large weight needs no copies of its size."""
    rows, columns = weight.shape
    quantized = torch.empty(rows, columns, dtype=torch.int8, device=weight.device)
    scale = torch.empty(rows, device=weight.device)
    step = max(1, _BLOCK_VALUES // columns)
    for first in range(0, rows, step):
        block = slice(first, first + step)
        quantized[block], scale[block] = quantize_rows(weight[block])
    return quantized, scale
