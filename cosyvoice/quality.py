"""How much work the flow spends on a mel: the presets a user chooses from, each a plain value.

The presets were chosen with flows whose velocity is known exactly (mixtures of patches of real mels, from
sharply to loosely conditioned), since the published weights were not at hand: judge them again when they are.
There guidance mattered in the first steps only, while the noise decides what the speech becomes, and a
multistep update (Adams-Bashforth) went astray where the guidance changes fast.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Quality:
    """A schedule of the flow's solver, which takes Euler steps from time 0 to 1."""

    name: str
    times: tuple[float, ...]  # where the steps begin; the first is 0
    guided_steps: int  # this many at first weigh the velocity with the conditions against that without
    whole_attention: bool = False  # each frame of a file sees all others; else chunk by chunk, as streams do

    @property
    def steps(self) -> int:
        return len(self.times)

    @property
    def half_evaluations(self) -> int:
        """Passes of the DiT over the frames: two for a guided step, one for another."""
        return self.steps + self.guided_steps


def cosine_times(steps: int) -> tuple[float, ...]:
    """The published schedule: short steps at first, long ones at the end.

    Rounded, so that a table of them made on one machine is found by these on another.
    """
    return tuple(round(1 - math.cos(math.pi / 2 * step / steps), 9) for step in range(steps))


EXACT = Quality("exact", cosine_times(10), guided_steps=10, whole_attention=True)
BALANCED = Quality("balanced", cosine_times(6), guided_steps=3)
FAST = Quality("fast", cosine_times(4), guided_steps=3)
QUALITIES = {quality.name: quality for quality in (EXACT, BALANCED, FAST)}
DEFAULT = BALANCED


def all_times() -> tuple[float, ...]:
    """The solver times of all presets, ascending: those a prepared model holds the modulations of."""
    return tuple(sorted({time for quality in QUALITIES.values() for time in quality.times}))
