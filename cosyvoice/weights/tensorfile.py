"""Writes a safetensors file tensor by tensor, in any order, without ever holding more than one."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

import torch
from torch import Tensor

from cosyvoice.weights.layout import Stored

DTYPES = {"F32": torch.float32, "I8": torch.int8}  # by their names in the format
_NAMES = {dtype: name for name, dtype in DTYPES.items()}
_ALIGNMENT_BYTES = (
    64  # of the data, a cache line; tensors follow each other without gaps, as the format wants
)


def write(path: Path, layout: Mapping[str, Stored], tensors: Iterable[tuple[str, Tensor]]) -> None:
    """Writes exactly the tensors of `layout`, and waits until the disk has them.

    Raises:
        OSError: the disk is full or fails.
        ValueError: a tensor is missing, unexpected or misshapen.
    """
    # The format allows no gaps. So first those that end where a cache line does, and each begins with one, as
    # fast kernels want it; then the others, the widest type first, so that each is aligned to its own.
    names = sorted(layout, key=lambda name: (_is_ragged(layout[name]), -layout[name].dtype.itemsize, name))
    offsets: dict[str, int] = {}
    end = 0
    for name in names:
        offsets[name] = end
        end += layout[name].nbytes
    header = _header(layout, offsets)
    missing = set(layout)
    with path.open("wb") as file:
        file.write(header)
        for name, tensor in tensors:
            if name not in missing or Stored(tensor.dtype, tuple(tensor.shape)) != layout[name]:
                raise ValueError(f"{path.name}: {name} is not as it was planned: {layout.get(name)}")
            missing.remove(name)
            _put(file, len(header) + offsets[name], tensor)
        if missing:
            raise ValueError(f"{path.name}: nothing made {', '.join(sorted(missing))}")
        file.flush()
        os.fsync(file.fileno())


def _is_ragged(stored: Stored) -> bool:
    return stored.nbytes % _ALIGNMENT_BYTES != 0


def _header(layout: Mapping[str, Stored], offsets: Mapping[str, int]) -> bytes:
    """The length of the text in 8 bytes, then the text, padded with spaces as the format allows."""
    text = json.dumps(
        {
            name: {
                "dtype": _NAMES[layout[name].dtype],
                "shape": layout[name].shape,
                "data_offsets": [offset, offset + layout[name].nbytes],
            }
            for name, offset in offsets.items()
        },
        separators=(",", ":"),
    ).encode()
    text += b" " * (-(8 + len(text)) % _ALIGNMENT_BYTES)
    return len(text).to_bytes(8, "little") + text


def _put(file: BinaryIO, offset: int, tensor: Tensor) -> None:
    file.seek(offset)
    file.write(tensor.contiguous().flatten().numpy().data)
