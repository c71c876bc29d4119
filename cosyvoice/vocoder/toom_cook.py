"""Convolutions with a third of the products: the Toom-Cook scheme, known from image networks as Winograd's.

To give m outputs of r taps each takes m x r products. The same outputs are linear in the coefficients of a
product of two polynomials, and that product is known from its values at P = m + r - 1 points, with one
multiplication each. So B takes P rows of the input to the points; there, each point has a matrix of its own
between the channels; and A takes the points back to m rows:

    y = A [(G w) * (B x)]        A: (m, P)   B: (P, P)   G: (P, r), applied when the weights are converted

The scheme is exact in the reals; in float32 each point costs accuracy. With the eleven points below a layer
errs by 4e-6 of its output (root mean square) where the plain sum errs by 3e-7.
"""

import functools

import torch
from torch import Tensor, nn

from cosyvoice.vocoder.layers import Memory

# Found by trying sets of small fractions, for the least error. The last point is infinity: see `values`.
FINITE_POINTS = (0, 1, -1, 4 / 3, -4 / 3, 3 / 5, -3 / 5, 5 / 2, -5 / 2, 1 / 4)
POINTS = len(FINITE_POINTS) + 1
_SHARED_RUN = (POINTS + 1) // 2  # as many taps as outputs: a run's tiles are then its neighbour's, one on


class SnakeConv(nn.Module):
    """A Snake activation, x + sin^2(alpha x) / alpha (arXiv 2006.08195), and a causal dilated convolution.

    Together, since the activation is written straight into the rows that the convolution reads.
    """

    def __init__(self, channels: int, kernel: int, dilation: int = 1) -> None:
        super().__init__()
        self.kernel = kernel
        self.dilation = dilation
        self.alpha = nn.Parameter(torch.empty(channels))
        self.weight = nn.Parameter(torch.empty(runs(kernel), POINTS, channels, channels))
        self.bias = nn.Parameter(torch.empty(channels))

    def forward(self, x: Tensor, memory: Memory) -> Tensor:
        """x: (T, C) -> (T, C).

        A tile is `POINTS` rows that are `dilation` apart, and gives `m` outputs, as far apart. `dilation`
        neighbouring tiles are worked on abreast, `width` wide. The last tiles reach into zeros beyond T.
        """
        moments, channels = x.shape
        m = POINTS + 1 - taps(self.kernel)
        count = -(-moments // (m * self.dilation))
        tiles = count + len(self.weight) - 1
        width = self.dilation * channels
        rows = self._activated(x, (tiles * m + POINTS - m) * self.dilation, memory)

        tile_rows = rows.as_strided((POINTS, tiles, width), (width, m * width, 1))
        at_points = _to_points() @ tile_rows.reshape(POINTS, tiles * width)
        at_points = at_points.view(POINTS, tiles, width)
        shape = (POINTS, count * self.dilation, channels)
        product = torch.bmm(at_points[:, :count].view(shape), self.weight[0])
        for run in range(1, len(self.weight)):
            product.baddbmm_(at_points[:, run : run + count].view(shape), self.weight[run])
        outputs = _from_points(m) @ product.view(POINTS, count * width)

        y = x.new_empty(count, m, self.dilation, channels)
        torch.add(outputs.view(m, count, self.dilation, channels).transpose(0, 1), self.bias, out=y)
        return y.view(count * m * self.dilation, channels)[:moments]  # (T, C)

    def _activated(self, x: Tensor, length: int, memory: Memory) -> Tensor:
        """The rows that the taps lie on, (length, C): past ones, `x` after the activation, and zeros."""
        past, end = (self.kernel - 1) * self.dilation, (self.kernel - 1) * self.dilation + len(x)
        rows = x.new_empty(length, x.shape[1])
        rows[:past] = memory.get(self, 0)
        rows[end:] = 0
        new = torch.mul(x, self.alpha, out=rows[past:end]).sin_().square_()
        torch.addcmul(x, new, (self.alpha + 1e-9).reciprocal_(), out=new)  # 1e-9: as published
        memory[self] = rows[end - past : end].clone()
        return rows


def runs(kernel: int) -> int:
    """How many runs of taps a kernel is cut into: a run of many taps leaves its tile few outputs."""
    return 1 if kernel <= _SHARED_RUN + 1 else -(-kernel // _SHARED_RUN)


def taps(kernel: int) -> int:
    """Taps in a run; the last run of several may end with zeros."""
    return kernel if runs(kernel) == 1 else _SHARED_RUN


def at_points(weight: Tensor) -> Tensor:
    """A kernel (out, in, k), oldest tap first, as `SnakeConv` takes it: (runs, POINTS, in, out) float64."""
    outputs, inputs, kernel = weight.shape
    padded = weight.new_zeros(outputs, inputs, runs(kernel) * taps(kernel), dtype=torch.float64)
    padded[..., :kernel] = weight
    cut = padded.view(outputs, inputs, runs(kernel), taps(kernel))
    return torch.einsum("oirt,pt->rpio", cut, values(taps(kernel)))


def values(coefficients: int) -> Tensor:
    """(POINTS, coefficients) float64: from a polynomial to its values; at infinity, the last coefficient."""
    finite = torch.tensor(FINITE_POINTS, dtype=torch.float64)[:, None] ** torch.arange(coefficients)
    infinity = torch.eye(coefficients, dtype=torch.float64)[-1:]
    return torch.cat((finite, infinity))


@functools.cache
def _to_points() -> Tensor:
    """B: a product of polynomials turned around, hence the transpose of the way back from the values."""
    from_values: Tensor = torch.linalg.inv(values(POINTS))
    return from_values.T.float().contiguous()


@functools.cache
def _from_points(outputs: int) -> Tensor:
    """A, (outputs, POINTS)."""
    return values(outputs).T.float().contiguous()
