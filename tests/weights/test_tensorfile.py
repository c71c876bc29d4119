"""The files are safetensors files, written without being held."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from cosyvoice.weights import tensorfile
from cosyvoice.weights.layout import Stored

TENSORS = {
    "b.weight": torch.arange(-7, 8, dtype=torch.int8).reshape(3, 5),  # 15 bytes: nothing after it is aligned
    "a": torch.randn(4, 3, 2),
    "c": torch.tensor(2.5),
}
LAYOUT = {name: Stored(tensor.dtype, tuple(tensor.shape)) for name, tensor in TENSORS.items()}


def test_the_library_reads_what_was_written_in_any_order(tmp_path: Path) -> None:
    for order in (TENSORS, dict(reversed(TENSORS.items()))):
        tensorfile.write(tmp_path / "x", LAYOUT, iter(order.items()))
        loaded = load_file(tmp_path / "x")
        assert loaded.keys() == TENSORS.keys()
        assert all(torch.equal(loaded[name], tensor) for name, tensor in TENSORS.items())


def test_floats_are_aligned_whatever_lies_beside_them(tmp_path: Path) -> None:
    tensorfile.write(tmp_path / "x", LAYOUT, TENSORS.items())
    assert (8 + int.from_bytes((tmp_path / "x").read_bytes()[:8], "little")) % 64 == 0
    assert load_file(tmp_path / "x")["a"].data_ptr() % 4 == 0


def test_a_view_is_written_as_it_is_seen(tmp_path: Path) -> None:
    view = torch.randn(3, 4).T
    tensorfile.write(tmp_path / "x", {"v": Stored(torch.float32, (4, 3))}, [("v", view)])
    assert torch.equal(load_file(tmp_path / "x")["v"], view)


@pytest.mark.parametrize(
    "tensors",
    [
        {"a": TENSORS["a"], "c": TENSORS["c"]},
        {**TENSORS, "d": torch.zeros(1)},
        {**TENSORS, "a": TENSORS["a"].double()},
        {**TENSORS, "a": TENSORS["a"][:1]},
    ],
    ids=["missing", "unexpected", "type", "shape"],
)
def test_what_was_not_planned_is_an_error(tensors: dict[str, Tensor], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="x: "):
        tensorfile.write(tmp_path / "x", LAYOUT, tensors.items())
