"""The fast convolution against the plain sum in float64."""

import itertools

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from cosyvoice.vocoder.layers import Memory
from cosyvoice.vocoder.toom_cook import POINTS, SnakeConv, at_points, runs, taps

_CHANNELS = 16
_TOLERANCE = 1e-4  # of outputs of variance 1, at most; the mean error is 4e-6


def _layer_and_sum(kernel: int, dilation: int, x: Tensor) -> tuple[SnakeConv, Tensor]:
    """A layer with random weights, and its output (T, C) by the definition."""
    weight = torch.randn(_CHANNELS, _CHANNELS, kernel, dtype=torch.float64) / (_CHANNELS * kernel) ** 0.5
    alpha, bias = torch.rand(_CHANNELS) + 0.5, torch.randn(_CHANNELS)
    layer = SnakeConv(_CHANNELS, kernel, dilation)
    layer.load_state_dict({"alpha": alpha, "weight": at_points(weight).float(), "bias": bias})
    layer.requires_grad_(False)
    x = x.double()
    snake = x + torch.sin(alpha * x) ** 2 / alpha
    padded = F.pad(snake.T, ((kernel - 1) * dilation, 0))
    return layer, F.conv1d(padded, weight, bias.double(), dilation=dilation).T.float()


@pytest.mark.parametrize(("kernel", "dilation"), list(itertools.product((3, 7, 11, 13), (1, 3, 5))))
def test_it_is_the_plain_sum_however_the_rows_are_cut(kernel: int, dilation: int) -> None:
    torch.manual_seed(kernel)
    x = torch.randn(100, _CHANNELS)
    layer, expected = _layer_and_sum(kernel, dilation, x)
    for lengths in ([100], [1] * 100, [1, 63, 0, 36]):
        memory: Memory = {}
        y = torch.cat([layer(part, memory) for part in torch.split(x, lengths)])
        torch.testing.assert_close(y, expected, atol=_TOLERANCE, rtol=0)


def test_its_error_is_what_its_module_says() -> None:
    torch.manual_seed(0)
    x = torch.randn(2000, _CHANNELS)
    for kernel in (3, 7, 11):
        layer, expected = _layer_and_sum(kernel, 1, x)
        error = (layer(x, {}) - expected).square().mean().sqrt() / expected.std()
        assert error < 8e-6


@pytest.mark.parametrize(("kernel", "share"), [(3, 0.41), (7, 0.32), (11, 0.34)])
def test_it_needs_a_third_of_the_products(kernel: int, share: float) -> None:
    outputs = POINTS + 1 - taps(kernel)
    assert POINTS * runs(kernel) / (outputs * kernel) < share
