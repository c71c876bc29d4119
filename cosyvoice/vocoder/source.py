"""The source: the buzz of the vocal folds and the hiss of the breath, to be shaped into speech."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from cosyvoice.config import SAMPLE_RATE_HZ, SAMPLES_PER_FRAME
from cosyvoice.layers import Linear

HARMONICS = 9  # the fundamental and eight overtones
SINE_AMPLITUDE = 0.1
VOICED_NOISE = 0.003
UNVOICED_NOISE = SINE_AMPLITUDE / 3
VOICED_ABOVE_HZ = 10
_NOISE_SEED = 20251215

Noise = Callable[[int], Tensor]  # frame number -> (480, 9) in [0, 1)


@dataclass(frozen=True)
class Phase:
    """Where the oscillators stand: the frames that have passed, and each harmonic's cycles, (9,) float64."""

    frames: int
    cycles: Tensor

    @classmethod
    def start(cls) -> "Phase":
        return cls(0, torch.zeros(HARMONICS, dtype=torch.float64))


class Source(nn.Module):
    """Sines at the harmonics of F0, noise in each, and a learned mix of the nine.

    As published, the phase advances once a frame and is held within it: a sine is constant for 480 samples.
    The published random start phases have no effect, since they are added to a sample that its interpolation
    to frames skips. Cycles are counted in float64 and wrapped, where the published float32 sum loses accuracy
    from frame to frame: 2e-5 in the samples of the first second.
    """

    def __init__(self) -> None:
        super().__init__()
        self.mix = Linear(HARMONICS, 1)

    def forward(self, f0: Tensor, phase: Phase, noise: Noise) -> tuple[Tensor, Phase]:
        """F0: (T, 1) float32 in Hz -> samples: (T * 480,) float32 in [-1, 1], 24 kHz; and the phase after."""
        if not len(f0):
            return f0.new_empty(0), phase
        harmonics_hz = f0.double() * torch.arange(1, HARMONICS + 1)  # (T, 9)
        advances = harmonics_hz * (SAMPLES_PER_FRAME / SAMPLE_RATE_HZ)
        cycles = (phase.cycles + advances.cumsum(0)) % 1  # (T, 9)
        voiced = f0 > VOICED_ABOVE_HZ  # (T, 1)
        sines = SINE_AMPLITUDE * torch.sin(2 * torch.pi * cycles).float() * voiced  # (T, 9)
        amplitude = torch.where(voiced, VOICED_NOISE, UNVOICED_NOISE)  # (T, 1)
        frames = range(phase.frames, phase.frames + len(f0))
        hiss = torch.stack([noise(frame) @ self.mix.weight[0] for frame in frames])  # (T, 480)
        samples = torch.tanh(self.mix(sines) + amplitude * hiss).flatten()
        return samples, Phase(phase.frames + len(f0), cycles[-1])


def frame_noise(frame: int) -> Tensor:
    """The noise of a frame, (480, 9) uniform in [0, 1), drawn from a seed of its own.

    So a frame sounds the same wherever the speech is cut. The published noise is one draw of 300 s, made when
    its module is built, and not in the checkpoint.
    """
    generator = torch.Generator().manual_seed(_NOISE_SEED + frame)
    return torch.rand(SAMPLES_PER_FRAME, HARMONICS, generator=generator)
