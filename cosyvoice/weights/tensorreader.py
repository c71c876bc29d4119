"""Reads a safetensors file tensor by tensor, so that a network is packed without its file in memory."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from cosyvoice.errors import ModelError
from cosyvoice.weights import manifest
from cosyvoice.weights.tensorfile import DTYPES

_LENGTH_BYTES = 8  # of the header, before it


class TensorReader(Mapping[str, Tensor]):
    """Tensors by name; each is read from the disk whenever it is asked for, and is the caller's own."""

    def __init__(self, path: Path) -> None:
        """Raises `ModelError`: the file is damaged or cannot be read."""
        self._path = path
        try:
            with path.open("rb") as file:
                length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
                self._entries = json.loads(file.read(length))
        except (OSError, ValueError, MemoryError) as error:
            raise self._damaged(error) from error
        self._entries.pop("__metadata__", None)
        self._data = _LENGTH_BYTES + length

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, name: str) -> Tensor:
        """Raises `KeyError`, or `ModelError`: the file is damaged."""
        entry = self._entries[name]
        tensor = torch.empty(entry["shape"], dtype=DTYPES[entry["dtype"]], device="cpu")
        view = memoryview(tensor.flatten().view(torch.uint8).numpy())  # type: ignore[arg-type] # it is one
        try:
            with self._path.open("rb", buffering=0) as file:
                file.seek(self._data + entry["data_offsets"][0])
                while len(view):
                    read = file.readinto(view)
                    if not read:
                        raise OSError(0, f"{name} is cut short")
                    view = view[read:]
        except OSError as error:
            raise self._damaged(error) from error
        return tensor

    def mapped(self, name: str) -> Tensor:
        """A tensor that stays on the disk: only the parts that are looked at take memory."""
        entry = self._entries[name]
        begin, end = entry["data_offsets"]
        # Copy on write, since PyTorch takes no memory that must not be written; nobody does.
        mapped = np.memmap(self._path, np.uint8, "c", self._data + begin, end - begin)
        return torch.from_numpy(mapped).view(DTYPES[entry["dtype"]]).view(entry["shape"])

    def shape(self, name: str) -> tuple[int, ...]:
        """Without reading it."""
        return tuple(self._entries[name]["shape"])

    def _damaged(self, error: Exception) -> ModelError:
        return ModelError([f"{self._path.name} is damaged ({error}); {manifest.PREPARE}"])
