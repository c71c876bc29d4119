"""Measures which kernel multiplies a weight fastest on this machine."""

import statistics
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch

from cosyvoice.int8.kernels import KERNELS, Product, available

# Weights of a whole network pass through the caches between two uses of the same one, so a measurement goes
# round as many copies as fill this much memory; the caches of small boards and of desktops are smaller.
COLD_BYTES = 64 * 2**20
MAX_COPIES = 24
ROUNDS = 3
GIVE_UP_FACTOR = 4.0  # a kernel this much slower than the best is not measured any further
# A call with many rows spends itself on sums, not on reading weights: there the caches do not matter.
FEW_ROWS = 8


class Shape(NamedTuple):
    """A product: (rows, columns) float32 by an int8 weight (outputs, columns)."""

    outputs: int
    columns: int
    rows: int


def measure(
    shapes: Mapping[tuple[int, int], int], threads: int, candidates: tuple[str, ...] | None = None
) -> dict[tuple[int, int], dict[str, float]]:
    """Milliseconds of one product for each weight shape (outputs, columns), used with that many rows.

    `candidates`: the kernels to look at; None for all that this machine has. Float32 is left out for weights
    used with a few rows: those wait for memory, of which it reads four times as much.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with torch.inference_mode():
            return {
                (outputs, columns): _measure_shape(Shape(outputs, columns, rows), candidates)
                for (outputs, columns), rows in shapes.items()
            }
    finally:
        torch.set_num_threads(before)


def fastest(times_ms: Mapping[tuple[int, int], Mapping[str, float]]) -> dict[tuple[int, int], str]:
    """The fastest kernel for each weight shape."""
    return {shape: min(of_kernel, key=of_kernel.__getitem__) for shape, of_kernel in times_ms.items()}


def _measure_shape(shape: Shape, candidates: tuple[str, ...] | None) -> dict[str, float]:
    generator = torch.Generator().manual_seed(0)
    weight = torch.randint(-127, 128, (shape.outputs, shape.columns), generator=generator, dtype=torch.int8)
    scale = torch.full((shape.outputs,), 1e-4)
    x = torch.randn(shape.rows, shape.columns, generator=generator)
    times_ms: dict[str, float] = {}
    for name in candidates or tuple(available()):
        if name == "float32" and shape.rows <= FEW_ROWS:
            continue
        few = shape.rows <= FEW_ROWS
        copies = min(MAX_COPIES, max(1, COLD_BYTES // weight.nbytes)) if few else 1
        pack = KERNELS[name]
        try:
            products = [pack(weight.clone(), scale, None) for _ in range(copies)]
            once_ms = _round_ms(products, x)
        except RuntimeError:  # the kernel is in this build and this processor lacks its instructions
            continue
        best_ms = min(times_ms.values(), default=once_ms)
        rounds = ROUNDS if once_ms < GIVE_UP_FACTOR * best_ms else 0
        rest_ms = [_round_ms(products, x) for _ in range(rounds)]
        times_ms[name] = statistics.median(rest_ms) if rest_ms else once_ms
    return times_ms


def _round_ms(products: Sequence[Product], x: torch.Tensor) -> float:
    began = time.perf_counter()
    for product in products:
        product(x)
    return (time.perf_counter() - began) / len(products) * 1000
