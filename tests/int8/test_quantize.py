import torch
from hypothesis import given
from hypothesis import strategies as st

from cosyvoice.int8.quantize import dequantize_rows, quantize_rows


@given(seed=st.integers(0, 2**31), size=st.sampled_from([1e-6, 1.0, 1e4]))
def test_a_weight_moves_by_at_most_half_a_step_of_its_row(seed: int, size: float) -> None:
    weight = torch.randn(5, 64, generator=torch.Generator().manual_seed(seed)) * size
    weight[0] *= 1000  # a large row must not cost the small ones their precision
    quantized, scale = quantize_rows(weight)
    assert quantized.dtype == torch.int8
    distance = (dequantize_rows(quantized, scale) - weight).abs()
    assert bool((distance <= scale[:, None] * 0.501).all())


def test_a_row_of_zeros_stays_zero() -> None:
    quantized, scale = quantize_rows(torch.zeros(2, 8))
    assert dequantize_rows(quantized, scale).abs().max() == 0
