"""Vectors of text ids. Their table is the largest tensor of the model (136 M values) and few rows of it are
needed, so it stays outside the module, as a memory-mapped file of which only the rows asked for are read."""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor


class TextEmbedding(Protocol):
    """ids, each in [0, vocab) -> (len(ids), hidden) float32."""

    def __call__(self, ids: Sequence[int]) -> Tensor: ...


class FloatTextEmbedding:
    """Rows of a float table as published: (vocab, hidden), of any float type."""

    def __init__(self, table: Tensor) -> None:
        self._table = table

    def __call__(self, ids: Sequence[int]) -> Tensor:
        return self._table[_index(ids)].float()


class Int8TextEmbedding:
    """Rows of an int8 table (vocab, hidden) with a float32 scale (vocab,) each."""

    def __init__(self, rows: Tensor, scale: Tensor) -> None:
        self._rows = rows
        self._scale = scale

    def __call__(self, ids: Sequence[int]) -> Tensor:
        index = _index(ids)
        return self._rows[index].float().mul_(self._scale[index, None])


def _index(ids: Sequence[int]) -> Tensor:
    return torch.tensor(ids, dtype=torch.long)  # the type is named, for no ids at all
