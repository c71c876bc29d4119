"""Every kernel of this machine gives the product, within the rounding that it owns up to."""

import pytest
import torch
import torch.nn.functional as F

from cosyvoice.int8 import kernels
from cosyvoice.int8.linear import BIAS, SCALE, WEIGHT, fill, make
from cosyvoice.int8.quantize import dequantize_rows, quantize_rows

OUTPUTS, COLUMNS = 51, 128  # an odd number of outputs, as the speech head has
ROUNDING = 0.02  # of the product's size: int8 rows and weights move it by about 1 %


def tensors(name: str, bias: bool) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    weight, scale = quantize_rows(torch.randn(OUTPUTS, COLUMNS, generator=generator))
    found = {name + WEIGHT: weight, name + SCALE: scale}
    return {**found, name + BIAS: torch.randn(OUTPUTS, generator=generator)} if bias else found


def error(found: torch.Tensor, right: torch.Tensor) -> float:
    return float((found - right).norm() / right.norm())


@pytest.mark.parametrize("rows", [(1,), (7,), (2, 5)])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kernel", kernels.available())
def test_a_kernel_gives_the_product(kernel: str, bias: bool, rows: tuple[int, ...]) -> None:
    layer = tensors("layer", bias)
    x = torch.randn(*rows, COLUMNS, generator=torch.Generator().manual_seed(2))
    right = F.linear(x, dequantize_rows(layer["layer.weight"], layer["layer.scale"]), layer.get("layer.bias"))
    for rows_apart in (False, True):
        found = make(layer, "layer", lambda *_: kernel, rows_apart)(x)
        assert found.shape == right.shape
        assert found.dtype == torch.float32
        assert error(found, right) < ROUNDING


@pytest.mark.parametrize("kernel", kernels.available())
def test_a_huge_row_costs_the_others_nothing_where_rows_are_apart(kernel: str) -> None:
    layer = tensors("layer", bias=True)
    x = torch.randn(6, COLUMNS, generator=torch.Generator().manual_seed(3))
    alone = make(layer, "layer", lambda *_: kernel, rows_apart=True)(x[1:])
    x[0] *= 10_000
    assert error(make(layer, "layer", lambda *_: kernel, rows_apart=True)(x)[1:], alone) < ROUNDING


def test_a_module_is_filled_with_int8_and_float_layers() -> None:
    with torch.device("meta"):
        module = torch.nn.ModuleDict({"a": torch.nn.Linear(COLUMNS, OUTPUTS), "b": torch.nn.LayerNorm(4)})
    fill(
        module,
        {**tensors("a", bias=True), "b.weight": torch.full((4,), 2.0), "b.bias": torch.zeros(4)},
        lambda outputs, columns: {(OUTPUTS, COLUMNS): "by_row"}[outputs, columns],
        rows_apart=False,
    )
    x = torch.ones(1, COLUMNS)
    assert torch.equal(module["a"](x), make(tensors("a", bias=True), "a", lambda *_: "by_row", False)(x))
    assert not any(parameter.is_meta for parameter in module.parameters())


def test_a_missing_tensor_is_told() -> None:
    with torch.device("meta"):
        module = torch.nn.ModuleDict({"a": torch.nn.Linear(COLUMNS, OUTPUTS), "b": torch.nn.LayerNorm(4)})
    with pytest.raises(RuntimeError, match=r"b\.weight"):
        fill(module, tensors("a", bias=True), lambda outputs, columns: "by_row", rows_apart=False)


@pytest.mark.parametrize("rows", [1, 130])
@pytest.mark.parametrize("kernel", kernels.available())
def test_a_weight_may_lie_anywhere_in_a_file(kernel: str, rows: int) -> None:
    shape = (64, 128)
    weight, scale = quantize_rows(torch.randn(shape, generator=torch.Generator().manual_seed(4)))
    x = torch.randn(rows, shape[1], generator=torch.Generator().manual_seed(5))
    right = F.linear(x, dequantize_rows(weight, scale))
    for offset in (1, 4, 36):
        file = torch.zeros(weight.numel() + 64, dtype=torch.int8)
        lies = file[offset : offset + weight.numel()].view(shape)
        lies.copy_(weight)
        assert error(kernels.KERNELS[kernel](lies, scale, None)(x), right) < ROUNDING
