"""Symmetric 8-bit weights, one scale for each output row."""

import torch
from torch import Tensor

INT8_MAX = 127  # -128 stays unused, so that the range is symmetric


def quantize_rows(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Rounds a weight (N, K) float32 to int8 (N, K) and a scale (N,) float32; weight = int8 * scale.

    One scale a row: rows of a trained layer differ by an order of magnitude, and one scale for all of
    them would leave the small ones a handful of steps.
    """
    scale = weight.abs().amax(1).clamp(min=torch.finfo(torch.float32).tiny) / INT8_MAX  # (N,)
    return torch.round(weight / scale[:, None]).to(torch.int8), scale


def dequantize_rows(weight: Tensor, scale: Tensor) -> Tensor:
    """The float32 weight (N, K) that an int8 weight (N, K) and its scale (N,) stand for."""
    return weight.float() * scale[:, None]
