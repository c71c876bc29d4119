"""The noise that every speech starts from: always the same, as published."""

from functools import cache

import torch
from torch import Tensor

from cosyvoice.config import MEL_BINS, MEL_FRAMES_PER_S

MAX_FRAMES = 300 * MEL_FRAMES_PER_S  # as much as was published; prompt and speech together
_SEED = 0


@cache
def published_noise() -> Tensor:
    """(1, 15000, 80) float32, standard normal; drawn when first needed, 4.8 MB."""
    generator = torch.Generator().manual_seed(_SEED)
    return torch.randn(1, MEL_BINS, MAX_FRAMES, generator=generator).mT.contiguous()
