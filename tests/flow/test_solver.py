"""The solver on a flow whose velocity is known: it leads from noise to mels that were chosen beforehand."""

import pytest
import torch
from torch import Tensor

from cosyvoice.flow.solver import Cancelled, Halves, solve
from cosyvoice.quality import BALANCED, EXACT, FAST, Quality, cosine_times

SPREAD = 0.5  # of the mels around each of the chosen ones


class KnownFlow:
    """Mels lie around 40 chosen ones: any of them without conditions, and one of four with conditions."""

    def __init__(self) -> None:
        generator = torch.Generator().manual_seed(1)
        self.mels = torch.randn(40, 800, generator=generator) * 2 - 5  # about as mels lie
        self.noise = torch.randn(1, 10, 80, generator=generator)
        self.asked: list[bool] = []

    def velocity(self, quality: Quality, step: int, x: Tensor) -> Halves:
        time = quality.times[step]
        guided = step < quality.guided_steps
        self.asked.append(guided)
        return self._towards(self.mels[:4], x, time), self._towards(self.mels, x, time) if guided else None

    def _towards(self, mels: Tensor, x: Tensor, time: float) -> Tensor:
        """(expected mel - x) / (1 - time), the expectation being over the mels that x may become."""
        flat = x.flatten(1)
        variance = (time * SPREAD) ** 2 + (1 - time) ** 2
        likelihood = -(flat - time * mels).square().sum(1) / (2 * variance)
        near = torch.softmax(likelihood, 0) @ mels
        expected = near + time * SPREAD**2 / variance * (flat - time * near)
        return ((expected - flat) / (1 - time)).view_as(x)

    def solve(self, quality: Quality) -> Tensor:
        return solve(lambda step, x: self.velocity(quality, step, x), self.noise, quality)


def correlation(a: Tensor, b: Tensor) -> float:
    return float(torch.corrcoef(torch.stack((a.flatten(), b.flatten())))[0, 1])


def test_exact_arrives_at_a_mel_of_the_conditions() -> None:
    flow = KnownFlow()
    mel = flow.solve(EXACT)
    arrived = (mel.flatten(1) - flow.mels).square().mean(1).sqrt()  # of 40
    assert int(arrived.argmin()) < 4
    assert arrived.min() < 2 * SPREAD


@pytest.mark.parametrize("quality", [BALANCED, FAST], ids=lambda quality: quality.name)
def test_fewer_steps_arrive_where_exact_does(quality: Quality) -> None:
    flow = KnownFlow()
    exact, mel = flow.solve(EXACT), flow.solve(quality)
    assert correlation(mel, exact) > 0.99
    assert abs(float(mel.mean() - exact.mean())) < 0.06  # half a decibel, in a natural logarithm
    assert abs(float(mel.std() / exact.std()) - 1) < 0.02


def test_steps_of_exact_are_the_published_ones() -> None:
    flow = KnownFlow()
    x = flow.noise
    for step, (begin, end) in enumerate(zip(EXACT.times, (*EXACT.times[1:], 1.0), strict=True)):
        conditional, unconditional = flow.velocity(EXACT, step, x)
        assert unconditional is not None
        x = x + (end - begin) * (1.7 * conditional - 0.7 * unconditional)
    torch.testing.assert_close(flow.solve(EXACT), x)


def test_guidance_of_the_last_guided_step_fades() -> None:
    quality = Quality("three steps, one guided", (0.0, 0.5, 0.75), guided_steps=1)
    half = torch.zeros(1, 1, 80)

    def velocity(step: int, x: Tensor) -> Halves:
        return half, half - 1 if step == 0 else None

    mel = solve(velocity, half, quality)
    # 0.7 at full strength for a half, then for a quarter each at the square of 1/2 and of 1/4.
    torch.testing.assert_close(mel, torch.full_like(mel, 0.7 * (1 / 2 + 1 / 4 / 4 + 1 / 4 / 16)))


def test_only_the_first_steps_ask_for_the_unconditional_velocity() -> None:
    flow = KnownFlow()
    flow.solve(BALANCED)
    assert flow.asked == [True, True, True, False, False, False]


def test_cancel_is_asked_for_before_each_step() -> None:
    flow = KnownFlow()
    quality = Quality("four steps", cosine_times(4), guided_steps=0)
    with pytest.raises(Cancelled):
        solve(
            lambda step, x: flow.velocity(quality, step, x), flow.noise, quality, lambda: len(flow.asked) == 2
        )
    assert len(flow.asked) == 2
