"""The plain layers against PyTorch's convolutions, whole and cut."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from cosyvoice.vocoder.layers import Conv, Memory, Upsampling, conv_weight, upsampling_weight


def _cut(layer: nn.Module, x: Tensor, lengths: list[int]) -> Tensor:
    memory: Memory = {}
    return torch.cat([layer(part, memory) for part in torch.split(x, lengths)])


def _conv(kernel: Tensor, bias: Tensor, *, stride: int, start: int) -> Conv:
    outputs, inputs, length = kernel.shape
    layer = Conv(inputs, outputs, length, stride=stride, start=start)
    layer.load_state_dict({"weight": conv_weight(kernel), "bias": bias})
    return layer.requires_grad_(False)


@pytest.mark.parametrize(
    ("length", "stride", "start"),
    [(1, 1, 0), (3, 1, 2), (7, 1, 6), (4, 1, 0), (5, 1, 0), (6, 3, 2), (30, 15, 14)],
)
def test_a_convolution_is_pytorchs_however_the_rows_are_cut(length: int, stride: int, start: int) -> None:
    torch.manual_seed(length)
    kernel, bias, x = torch.randn(6, 5, length), torch.randn(6), torch.randn(61, 5)
    layer = _conv(kernel, bias, stride=stride, start=start)
    expected = F.conv1d(F.pad(x.T, (start, 0)), kernel, bias, stride=stride).T
    for lengths in ([61], [1] * 61, [2, 0, 30, 29]):
        torch.testing.assert_close(_cut(layer, x, lengths), expected, atol=1e-4, rtol=0)


def test_a_convolution_computes_in_the_precision_of_its_input() -> None:
    torch.manual_seed(0)
    kernel, bias, x = torch.randn(4, 3, 3), torch.randn(4), torch.randn(20, 3, dtype=torch.float64)
    layer = _conv(kernel, bias, stride=1, start=0)
    expected = F.conv1d(x.T, kernel.double(), bias.double()).T
    torch.testing.assert_close(layer(x, {}), expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize(("length", "factor"), [(16, 8), (11, 5), (7, 3), (1, 2), (2, 4)])
def test_upsampling_repeats_rows_and_convolves_causally(length: int, factor: int) -> None:
    torch.manual_seed(length)
    kernel, bias, x = torch.randn(3, 4, length), torch.randn(3), torch.randn(11, 4)
    layer = Upsampling(4, 3, length, factor)
    layer.load_state_dict({"weight": upsampling_weight(kernel, factor), "bias": bias.repeat(factor)})
    layer.requires_grad_(False)
    repeated = F.interpolate(x.T[None], scale_factor=factor)[0]
    expected = F.conv1d(F.pad(repeated, (length - 1, 0)), kernel, bias).T
    for lengths in ([11], [1] * 11, [3, 8]):
        torch.testing.assert_close(_cut(layer, x, lengths), expected, atol=1e-4, rtol=0)
