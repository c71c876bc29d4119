"""The presets keep to their budgets."""

import pytest

from cosyvoice.quality import BALANCED, DEFAULT, EXACT, FAST, QUALITIES, Quality, all_times


def test_budgets_of_half_evaluations() -> None:
    # A prepared network knows one half of the first step of chunk-causal attention, so it runs one fewer.
    budgets = {quality.name: quality.half_evaluations for quality in QUALITIES.values()}
    assert budgets == {"exact": 20, "balanced": 9, "fast": 7}


@pytest.mark.parametrize("quality", QUALITIES.values(), ids=lambda quality: quality.name)
def test_times_ascend_from_0_and_stay_below_1(quality: Quality) -> None:
    assert quality.times[0] == 0
    assert list(quality.times) == sorted(set(quality.times))
    assert quality.times[-1] < 1
    assert 0 < quality.guided_steps <= quality.steps


def test_only_exact_sees_the_whole_file() -> None:
    assert [quality for quality in QUALITIES.values() if quality.whole_attention] == [EXACT]
    assert EXACT.guided_steps == EXACT.steps
    assert DEFAULT is BALANCED


def test_a_prepared_model_holds_the_times_of_all_presets() -> None:
    times = all_times()
    assert list(times) == sorted(set(times))
    assert set(times) == {*EXACT.times, *BALANCED.times, *FAST.times}
