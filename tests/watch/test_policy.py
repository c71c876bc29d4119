"""What heat, memory and power allow: thresholds, hysteresis, dwell times, unknown values."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.config import Watch
from daemon.watch.policy import MIB, Level, Throttle, step
from daemon.watch.sensors import Reading

WATCH = Watch(rise_s=5.0, dwell_s=30.0)
AT_ONCE = Watch(rise_s=0.0, dwell_s=0.0)


def follow(readings: list[Reading], limits: Watch = AT_ONCE, every_s: float = 5.0) -> list[Throttle]:
    throttle, seen = Throttle(), []
    for number, reading in enumerate(readings):
        throttle = step(throttle, reading, limits, number * every_s)
        seen.append(throttle)
    return seen


def levels(temperatures_c: list[float | None], limits: Watch = AT_ONCE) -> list[str]:
    return [throttle.level.label for throttle in follow([Reading(value) for value in temperatures_c], limits)]


def test_every_threshold_is_taken_on_the_way_up_and_left_five_degrees_lower_on_the_way_down() -> None:
    assert levels([74.9, 75.0, 79.9, 80.0, 83.9, 84.0]) == [
        *("normal", "warm", "warm", "hot", "hot", "critical")
    ]
    up = [75.0, 80.0, 84.0]
    assert levels([*up, 79.1, 79.0, 75.1, 75.0, 70.1, 70.0])[3:] == [
        *("critical", "hot", "hot", "warm", "warm", "normal")
    ]


def test_a_harder_level_must_be_called_for_a_while_and_critical_not() -> None:
    assert levels([76.0, 60.0, 76.0, 76.0], WATCH) == ["normal", "normal", "normal", "warm"]
    assert levels([90.0], WATCH) == ["critical"]


def test_an_easier_level_must_be_called_for_longer_without_a_break() -> None:
    cool: list[float | None] = [60.0] * 6
    seen = levels([90.0, *cool, 90.0, *cool, 60.0], WATCH)
    assert seen[:14] == ["critical"] * 14
    assert seen[14] == "normal"


def test_what_is_unknown_is_neither_cool_at_once_nor_hot_for_ever() -> None:
    assert levels([None, None]) == ["normal", "normal"]
    assert levels([90.0, None, None, None, None, None, None, None], WATCH)[-2:] == ["critical", "normal"]


def test_little_memory_is_the_same_ladder_upside_down() -> None:
    readings = [
        Reading(None, mib * MIB) for mib in (1000, 384, 256, 96, 96 + 127, 96 + 128, 256 + 128, 384 + 128)
    ]
    assert [throttle.level.label for throttle in follow(readings)] == [
        *("normal", "warm", "hot", "critical", "critical", "hot", "warm", "normal")
    ]


def test_programs_that_wait_for_memory_unload_the_heavy_engine() -> None:
    readings = [Reading(memory_stall_percent=percent) for percent in (9.9, 10.0, 5.1, 5.0)]
    assert [throttle.level.label for throttle in follow(readings)] == ["normal", "hot", "hot", "normal"]


@pytest.mark.parametrize(
    ("reading", "reason"),
    [
        (Reading(undervoltage=True, slowed=True), "the power supply is too weak (undervoltage)"),
        (Reading(slowed=True), "the firmware has slowed the processor"),
        (Reading(81.26), "the processor is at 81.3 °C"),
        (Reading(40.0, 200 * MIB), "200 MiB of memory are free"),
        (Reading(memory_stall_percent=40.0), "programs wait for memory 40 % of the time"),
    ],
)
def test_the_reason_names_the_cause_with_its_number(reading: Reading, reason: str) -> None:
    assert follow([reading])[0].reason == reason


def test_what_has_happened_since_the_start_of_the_machine_throttles_nothing() -> None:
    past = Reading(undervoltage=False, slowed=False, undervoltage_happened=True, slowed_happened=True)
    assert follow([past])[0].level == Level.NORMAL


def test_the_reason_stays_while_the_level_does_so_that_nothing_is_told_twice() -> None:
    seen = follow([Reading(81.0), Reading(82.0), Reading(83.0)])
    assert {throttle.reason for throttle in seen} == {"the processor is at 81.0 °C"}


def test_the_hardest_cause_counts_and_names_itself() -> None:
    seen = follow([Reading(76.0, 1000 * MIB), Reading(76.0, 50 * MIB), Reading(76.0, 1000 * MIB)])
    assert [throttle.level.label for throttle in seen] == ["warm", "critical", "warm"]
    assert seen[1].reason == "50 MiB of memory are free"
    assert seen[2].reason == "the processor is at 76.0 °C"


@given(st.lists(st.one_of(st.none(), st.floats(20, 110)), min_size=1, max_size=60))
def test_the_level_never_changes_more_often_than_its_dwell_times_allow(values: list[float | None]) -> None:
    seen = levels(values, WATCH)
    eased = [n for n, (a, b) in enumerate(itertools.pairwise(seen)) if Level[b.upper()] < Level[a.upper()]]
    assert all(later - earlier >= 6 for earlier, later in itertools.pairwise(eased))
