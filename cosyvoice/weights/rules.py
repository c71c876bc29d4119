"""How the published tensors become ours: one rule for each tensor of our modules.

Our modules fuse what is multiplied with the same input (q, k and v; gate and up) and fold weight
normalisation, so a tensor of ours may be made of several published ones. Rules are applied one at a time,
so that a conversion never holds more than one tensor of a checkpoint.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from cosyvoice.errors import ModelError

Shape = tuple[int, ...]


def same(tensor: Tensor) -> Tensor:
    return tensor


def stack_rows(*tensors: Tensor) -> Tensor:
    """Weights (N_i, K) or biases (N_i,) one below the other, so that one product does the work of several."""
    return torch.cat(tensors)


@dataclass(frozen=True)
class Rule:
    """`target`, a name of our module, is `make` of the published tensors `sources`, in float32."""

    target: str
    sources: tuple[str, ...]
    make: Callable[..., Tensor] = same


def check(found: Mapping[str, Shape], expected: Mapping[str, Shape], file: str) -> None:
    """Holds a checkpoint's tensors against the published layout.

    Raises:
        ModelError: one sentence for every tensor that is missing, unexpected or misshapen.
    """
    problems = [f"{file}: tensor {name} is missing" for name in expected if name not in found]
    problems += [f"{file}: tensor {name} is unexpected" for name in found if name not in expected]
    problems += [
        f"{file}: tensor {name} has the shape {found[name]} instead of {shape}"
        for name, shape in expected.items()
        if name in found and found[name] != shape
    ]
    if problems:
        raise ModelError(problems)


def convert(published: Mapping[str, Tensor], rules: Iterable[Rule]) -> dict[str, Tensor]:
    """Our module's float32 state dict, of checked published tensors."""
    return {rule.target: apply(rule, published) for rule in rules}


def apply(rule: Rule, published: Mapping[str, Tensor]) -> Tensor:
    """One tensor of ours, contiguous float32."""
    made = rule.make(*(published[source].float() for source in rule.sources))
    return made.float().contiguous()
