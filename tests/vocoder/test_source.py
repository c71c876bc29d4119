"""The F0 predictor and the source against the goldens, and what the source promises by itself."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from cosyvoice.vocoder.layers import Memory
from cosyvoice.vocoder.source import Phase, frame_noise
from tests.vocoder import tiny


@pytest.mark.parametrize("final", tiny.FINALS)
@pytest.mark.parametrize("lengths", [[60], [1] * 60, [33, 27]])
def test_f0_is_as_published_however_the_frames_are_cut(final: bool, lengths: list[int]) -> None:
    golden = tiny.golden(final)
    memory: Memory = {}
    parts = list(torch.split(golden["mel"][0].T, lengths))
    if final:
        parts[-1] = F.pad(parts[-1], (0, 0, 0, 3))
    f0 = torch.cat([tiny.vocoder().f0(part, memory) for part in parts])
    torch.testing.assert_close(f0[:, 0], golden["f0"][0], atol=1e-2, rtol=0)  # Hz


@pytest.mark.parametrize("final", tiny.FINALS)
def test_the_source_is_as_published_though_it_starts_at_no_random_phase(final: bool) -> None:
    golden = tiny.golden(final)
    assert golden["rand_ini"].count_nonzero() == 8
    f0 = golden["f0"].T
    samples, phase = tiny.vocoder().source(f0, Phase.start(), lambda frame: tiny.golden_noise(final, frame))
    torch.testing.assert_close(samples, golden["source"].flatten(), atol=1e-4, rtol=0)
    assert phase.frames == len(f0)


def test_the_phase_goes_on_where_a_part_ended() -> None:
    f0 = torch.linspace(80, 300, 40)[:, None]
    f0[10:20] = 0
    source = tiny.vocoder().source
    whole, _ = source(f0, Phase.start(), frame_noise)
    phase, parts = Phase.start(), []
    for part in torch.split(f0, [1, 0, 14, 25]):
        samples, phase = source(part, phase, frame_noise)
        parts.append(samples)
    torch.testing.assert_close(torch.cat(parts), whole, atol=1e-6, rtol=0)


def test_a_harmonic_is_as_true_after_an_hour_as_at_the_start() -> None:
    source = tiny.vocoder().source
    f0 = torch.full((1, 1), 150.0)  # three cycles a frame: each frame is like the first
    first, phase = source(f0, Phase.start(), _silence)
    late = Phase(180_000, 180_000 * phase.cycles % 1)
    samples, _ = source(f0, late, _silence)
    torch.testing.assert_close(samples, first, atol=1e-5, rtol=0)


def test_the_noise_of_a_frame_is_its_own_and_always_the_same() -> None:
    noise = torch.stack([frame_noise(frame) for frame in range(50)])  # (50, 480, 9)
    assert torch.equal(frame_noise(7), noise[7])
    assert noise.min() >= 0
    assert noise.max() < 1
    assert noise.mean() == pytest.approx(0.5, abs=0.01)
    correlations = torch.corrcoef(noise.flatten(1)) - torch.eye(50)
    assert correlations.abs().max() < 0.08  # five standard deviations


def test_drawing_noise_leaves_the_global_generator_alone() -> None:
    before = torch.get_rng_state()
    frame_noise(3)
    assert torch.equal(torch.get_rng_state(), before)


def _silence(frame: int) -> Tensor:
    return torch.zeros(480, 9)
