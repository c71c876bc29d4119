"""The ways in which this machine can multiply float32 rows with an 8-bit weight.

All give the same product but for the rounding of the rows. Which is fastest differs from processor to
processor, by an order of magnitude and not always in favour of int8, so `choose` measures.
"""

import warnings
from collections.abc import Callable, Mapping
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from cosyvoice.int8.quantize import INT8_MAX, dequantize_rows

_OUTPUT_BLOCK = 64
_ALIGNMENT_BYTES = 64  # a cache line, and the widest register

Product = Callable[[Tensor], Tensor]  # (..., K) float32 -> (..., N) float32
Pack = Callable[[Tensor, Tensor, Tensor | None], Product]  # weight, scale, bias -> its product


def dynamic(backend: str, weight: Tensor, scale: Tensor, bias: Tensor | None) -> Product:
    """int8 by int8, with one scale for all rows of a call; packs a copy of the weight.

    Backends: fbgemm and onednn on x86-64, qnnpack on ARM.
    """
    before = torch.backends.quantized.engine
    torch.backends.quantized.engine = backend
    try:
        with warnings.catch_warnings():  # deprecated, and without a successor of its speed so far
            warnings.simplefilter("ignore", UserWarning)
            quantized = torch._make_per_channel_quantized_tensor(
                weight, scale.double(), torch.zeros(len(scale), dtype=torch.long), 0
            )
        packed = torch.ops.quantized.linear_prepack(quantized, bias)
        if backend == "onednn":  # it keeps the weight beside its packed copy and never looks at it again
            quantized.untyped_storage().resize_(0)
    finally:
        torch.backends.quantized.engine = before
    product = torch.ops.quantized.linear_dynamic.default
    return lambda x: product(x, packed)


def by_row(weight: Tensor, scale: Tensor, bias: Tensor | None) -> Product:
    """int8 by int8, with a scale for each row; reads the weight where it lies, mapped from its file."""
    columns = weight.t()  # (K, N)

    def product(x: Tensor) -> Tensor:
        rows = x.reshape(-1, x.shape[-1])  # (M, K)
        row_scale = rows.abs().amax(1, keepdim=True).clamp_(min=1e-12).div_(INT8_MAX)  # (M, 1)
        sums = torch._int_mm(torch.round(rows / row_scale).to(torch.int8), columns)  # (M, N) int32
        y = sums.float().mul_(row_scale).mul_(scale)
        return (y if bias is None else y.add_(bias)).reshape(*x.shape[:-1], -1)

    return product


def weight_only(weight: Tensor, scale: Tensor, bias: Tensor | None) -> Product:
    """bfloat16 by int8: a quarter of the memory traffic, no rounding of the rows to int8."""
    outputs = len(weight)
    padding = -outputs % _OUTPUT_BLOCK
    if weight.data_ptr() % _ALIGNMENT_BYTES:  # PyTorch's kernel takes for granted that it never is
        weight = weight.clone()
    if padding:  # it works in blocks of outputs too, and reads and writes past the end of the last
        weight, scale = F.pad(weight, (0, 0, 0, padding)), F.pad(scale, (0, padding))
    short_scale = scale.bfloat16()

    def product(x: Tensor) -> Tensor:
        rows = x.reshape(-1, x.shape[-1]).bfloat16()  # (M, K)
        y = torch._weight_int8pack_mm(rows, weight, short_scale)[:, :outputs].float()  # (M, N)
        return (y if bias is None else y.add_(bias)).reshape(*x.shape[:-1], -1)

    return product


def float32(weight: Tensor, scale: Tensor, bias: Tensor | None) -> Product:
    """The weight turned back into float32: four times the memory, for processors without fast int8."""
    return partial(F.linear, weight=dequantize_rows(weight, scale), bias=bias)


KERNELS: Mapping[str, Pack] = {
    "fbgemm": partial(dynamic, "fbgemm"),
    "onednn": partial(dynamic, "onednn"),
    "qnnpack": partial(dynamic, "qnnpack"),
    "by_row": by_row,
    "weight_only": weight_only,
    "float32": float32,
}


def available() -> list[str]:
    """The kernels that this build of PyTorch has; the order is that of `KERNELS`."""
    backends = torch.backends.quantized.supported_engines
    return [name for name in KERNELS if name in backends or name in ("by_row", "weight_only", "float32")]
