"""The vocoder's plain layers, on rows: a signal is a matrix (T, C), a row for each moment.

On rows every layer is a matrix product: the taps of a convolution are neighbouring rows, and an upsampling
that writes the new moments of an old one side by side has written them in their order.
"""

import torch
from torch import Tensor, nn

Memory = dict[nn.Module, Tensor]
"""The past rows (*, C) that each layer still needs; empty before the first row of a signal."""


class Conv(nn.Module):
    """A convolution over time, each output of `kernel` neighbouring rows, `stride` rows apart.

    A signal begins behind `start` rows of zeros: with `kernel - 1` of them the layer is causal; with none it
    looks ahead, since its first output waits for row number `kernel`. It computes in its input's precision.
    """

    def __init__(self, inputs: int, outputs: int, kernel: int, *, stride: int = 1, start: int = 0) -> None:
        super().__init__()
        self.kernel = kernel
        self.stride = stride
        self.start = start
        self.weight = nn.Parameter(torch.empty(kernel * inputs, outputs))  # tap by tap, the oldest first
        self.bias = nn.Parameter(torch.empty(outputs))

    def forward(self, x: Tensor, memory: Memory) -> Tensor:
        """x: (T, inputs) -> (N, outputs), the N outputs that are now complete; `memory` holds the rest."""
        past = memory[self] if self in memory else x.new_zeros(self.start, x.shape[1])
        x = torch.cat((past, x))
        moments = max(0, (len(x) - self.kernel) // self.stride + 1)
        memory[self] = x[moments * self.stride :].clone()
        inputs = x.shape[1]
        taps = x.as_strided((moments, self.kernel * inputs), (self.stride * inputs, 1))
        return torch.addmm(self.bias.to(x), taps, self.weight.to(x))  # (N, outputs)


class Upsampling(Conv):
    """Each row repeated `factor` times, then a causal convolution: in one product at the old rate.

    Most of the taps of a new moment lie on the same old row. Their weights are added up beforehand, so that a
    new moment costs three taps (`reach`) instead of 7, 11 or 16; the weight holds `factor` moments abreast.
    """

    def __init__(self, inputs: int, outputs: int, kernel: int, factor: int) -> None:
        rows = reach(kernel, factor)
        super().__init__(inputs, factor * outputs, rows, start=rows - 1)
        self.factor = factor

    def forward(self, x: Tensor, memory: Memory) -> Tensor:
        """x: (T, inputs) -> (T * factor, outputs)."""
        return super().forward(x, memory).view(len(x) * self.factor, -1)


def reach(kernel: int, factor: int) -> int:
    """How many old rows a kernel over `factor`-fold repeated rows can touch."""
    return -(-(kernel - 1) // factor) + 1


def conv_weight(kernel: Tensor) -> Tensor:
    """A kernel (out, in, k) as `Conv` takes it: (k * in, out)."""
    return kernel.permute(2, 1, 0).flatten(0, 1)


def upsampling_weight(kernel: Tensor, factor: int) -> Tensor:
    """A kernel (out, in, k) over repeated rows as `Upsampling` takes it: (old rows * in, factor * out)."""
    outputs, inputs, length = kernel.shape
    old_rows = reach(length, factor)
    summed = kernel.new_zeros(old_rows, inputs, factor, outputs)
    for moment in range(factor):
        for tap in range(length):
            repeated_row = moment - (length - 1) + tap  # counted from the first copy of the newest old row
            summed[old_rows - 1 + repeated_row // factor, :, moment] += kernel[:, :, tap].T
    return summed.view(old_rows * inputs, factor * outputs)
