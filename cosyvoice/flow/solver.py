"""The solver: from noise to mel in a few steps, along the velocities that the DiT tells."""

from collections.abc import Callable

import torch
from torch import Tensor

from cosyvoice.quality import Quality

GUIDANCE = 0.7  # as published: 1.7 times the conditional velocity less 0.7 times the unconditional one

Halves = tuple[Tensor, Tensor | None]  # the velocity with the conditions; without them, on a guided step
Velocity = Callable[[int, Tensor], Halves]  # of the frames at a step


class Cancelled(Exception):
    """The caller wanted no more of it. Not a fault, and therefore no `CosyVoiceError`."""


def never() -> bool:
    """The `cancelled` of a caller that always waits for the end."""
    return False


def solve(
    velocity: Velocity, noise: Tensor, quality: Quality, cancelled: Callable[[], bool] = never
) -> Tensor:
    """The mel that the noise (1, T, 80) becomes, of the same shape.

    Raises:
        Cancelled: `cancelled`, which is asked before each step, said so.
    """
    x = noise
    correction, corrected_at = torch.zeros_like(x), 0.0
    for step, (time, end) in enumerate(zip(quality.times, (*quality.times[1:], 1.0), strict=True)):
        if cancelled():
            raise Cancelled
        conditional, unconditional = velocity(step, x)
        if unconditional is not None:
            correction, corrected_at = GUIDANCE * (conditional - unconditional), time
        # A step that is not guided takes the last correction. It fades, as the noise does: the clearer the
        # speech already is, the less do the conditions add to what x shows.
        faded = ((1 - time) / (1 - corrected_at)) ** 2
        x = x + (end - time) * (conditional + faded * correction)
    return x
