"""The tiny published vocoder, loaded as the real one is, and its goldens."""

import functools
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from cosyvoice.config import TINY
from cosyvoice.vocoder.hift import Vocoder
from cosyvoice.vocoder.weights import rules
from cosyvoice.weights.rules import convert

DATA = Path(__file__).parents[1] / "data/cosyvoice3"
FINALS = (False, True)


def published_tensors() -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = torch.load(DATA / "tiny/hift.pt", weights_only=True)
    return tensors


@functools.cache
def vocoder() -> Vocoder:
    with torch.device("meta"):
        module = Vocoder(TINY.vocoder)
    module.load_state_dict(convert(published_tensors(), rules(TINY.vocoder)), strict=True, assign=True)
    return module.requires_grad_(False)


@functools.cache
def golden(final: bool) -> dict[str, Tensor]:
    """mel (1, 80, 60), f0 (1, T), source (1, 1, 480 T), noise (1, 480 T, 9), wav (1, N)."""
    with np.load(DATA / f"golden/hift_final{int(final)}.npz") as arrays:
        return {name: torch.from_numpy(arrays[name]) for name in arrays}


def golden_noise(final: bool, frame: int) -> Tensor:
    return golden(final)["noise"].view(-1, 480, 9)[frame]
