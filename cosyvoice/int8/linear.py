"""A linear layer with an 8-bit weight, in the place of an `nn.Linear`."""

from collections.abc import Callable, Mapping

from torch import Tensor, nn

from cosyvoice.int8.kernels import KERNELS, Product

WEIGHT, SCALE, BIAS = ".weight", ".scale", ".bias"


class Int8Linear(nn.Module):
    """(..., K) float32 -> (..., N) float32."""

    def __init__(self, product: Product, rows_apart: bool) -> None:
        """`rows_apart`: rows may differ by orders of magnitude, so each is brought to the same size first.

        A kernel with one scale for all rows of a call would else round the small rows to nothing. A language
        model needs it: the first position of a text is thousands of times larger than the others.
        """
        super().__init__()
        self._product = product
        self._rows_apart = rows_apart

    def forward(self, x: Tensor) -> Tensor:
        if not self._rows_apart or x.numel() == x.shape[-1]:
            return self._product(x)
        size = x.abs().amax(-1, keepdim=True).clamp_(min=1e-12)  # (..., 1)
        return self._product(x / size).mul_(size)


class BiasedInt8Linear(Int8Linear):
    """The same with a bias, which is added after the rows have their size again."""

    def __init__(self, product: Product, rows_apart: bool, bias: Tensor) -> None:
        super().__init__(product, rows_apart)
        self._bias = bias

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).add_(self._bias)


def make(
    tensors: Mapping[str, Tensor], name: str, kernel_of: Callable[[int, int], str], rows_apart: bool
) -> Int8Linear:
    """The layer `name` of a prepared file, packed for the kernel of its (outputs, columns)."""
    bias = tensors.get(name + BIAS)
    weight, scale = tensors[name + WEIGHT], tensors[name + SCALE]
    pack = KERNELS[kernel_of(*weight.shape)]
    if rows_apart and bias is not None:
        return BiasedInt8Linear(pack(weight, scale, None), rows_apart, bias)
    return Int8Linear(pack(weight, scale, bias), rows_apart)


def fill(
    module: nn.Module,
    tensors: Mapping[str, Tensor],
    kernel_of: Callable[[int, int], str],
    rows_apart: bool,
) -> None:
    """Fills a module built on the meta device: int8 layers where a weight has a scale, else as it is.

    Each tensor is asked for once, so that a `tensors` that reads from a file never holds two of them.

    Raises:
        RuntimeError: a tensor is missing or unexpected, as `nn.Module.load_state_dict` tells it.
    """
    quantized = [name.removesuffix(SCALE) for name in tensors if name.endswith(SCALE)]
    for name in quantized:
        module.set_submodule(name, make(tensors, name, kernel_of, rows_apart))
    inside = {name + end for name in quantized for end in (WEIGHT, SCALE, BIAS)}
    rest = {name: tensors[name] for name in tensors if name not in inside}
    module.load_state_dict(rest, strict=True, assign=True)
