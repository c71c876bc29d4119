"""A prepared folder opens at once: its tensors stay on the disk."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from cosyvoice.errors import ModelError
from cosyvoice.weights import kernel_choice, manifest, prepared
from cosyvoice.weights.kernel_choice import KernelChoice

Copy = Callable[[Path], Path]


def mapped_files() -> str:
    return Path("/proc/self/maps").read_text()


def test_tensors_are_mapped_and_given_back(tiny_prepared: Path) -> None:
    path = str(tiny_prepared / manifest.VOCODER)
    tensors = prepared.load(tiny_prepared).tensors(manifest.VOCODER)
    assert path in mapped_files()
    del tensors
    assert path not in mapped_files()


def test_the_choice_of_kernels_comes_along(tiny_prepared: Path, copied: Copy) -> None:
    folder = copied(tiny_prepared)
    assert prepared.load(folder).kernels is None
    choice = KernelChoice(machine="a board", threads=4, kernels={})
    kernel_choice.write(folder, choice)
    assert prepared.load(folder).kernels == choice


def test_a_short_file_is_told_on_opening(tiny_prepared: Path, copied: Copy) -> None:
    folder = copied(tiny_prepared)
    (folder / manifest.LLM).write_bytes(b"")
    with pytest.raises(ModelError, match=r"llm\.safetensors has 0 bytes instead of"):
        prepared.load(folder)


def test_other_solver_times_are_told_on_opening(tiny_prepared: Path, copied: Copy) -> None:
    folder = copied(tiny_prepared)
    found = msgspec.structs.replace(manifest.read(folder), time_points=(0.0, 0.5))
    (folder / manifest.FILE).write_bytes(manifest.encode(found))
    with pytest.raises(ModelError, match="made for other solver times"):
        prepared.load(folder)


def test_a_damaged_file_is_told_on_reading(tiny_prepared: Path, copied: Copy) -> None:
    folder = copied(tiny_prepared)
    path = folder / manifest.FLOW
    path.write_bytes(bytes(path.stat().st_size))
    with pytest.raises(ModelError, match=r"flow\.safetensors is damaged"):
        prepared.load(folder).tensors(manifest.FLOW)
