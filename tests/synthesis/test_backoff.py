from hypothesis import given
from hypothesis import strategies as st

from daemon.synthesis.backoff import Backoff, failed_for_s, remembered, start_delay_s

BACKOFF = Backoff(limit=5, window_s=300.0, cool_down_s=60.0, second_delay_s=1.0)

times = st.lists(st.floats(0, 1e6), max_size=20).map(sorted)


def test_without_failures_nothing_waits() -> None:
    assert start_delay_s((), 100.0, BACKOFF) == 0.0
    assert failed_for_s((), 100.0, BACKOFF) == 0.0


def test_the_first_retry_is_immediate_and_the_next_ones_wait_longer_and_longer() -> None:
    delays = [start_delay_s(range(count), count - 1, BACKOFF) for count in range(1, 6)]
    assert delays == [0.0, 1.0, 2.0, 4.0, 8.0]


def test_time_that_has_passed_is_not_waited_again() -> None:
    assert start_delay_s((0.0, 1.0, 2.0), 3.5, BACKOFF) == 0.5
    assert start_delay_s((0.0, 1.0, 2.0), 10.0, BACKOFF) == 0.0


def test_five_failures_within_the_window_fail_the_engine_until_it_cooled_down() -> None:
    failures = (0.0, 10.0, 20.0, 30.0, 40.0)
    assert failed_for_s(failures[:4], 40.0, BACKOFF) == 0.0
    assert failed_for_s(failures, 40.0, BACKOFF) == 60.0
    assert failed_for_s(failures, 99.0, BACKOFF) == 1.0
    assert failed_for_s(failures, 100.0, BACKOFF) == 0.0


def test_five_failures_over_a_longer_time_do_not() -> None:
    assert failed_for_s((0.0, 100.0, 200.0, 300.0, 400.0), 400.0, BACKOFF) == 0.0


def test_a_failure_after_the_cool_down_begins_the_next_one() -> None:
    failures = remembered((0.0, 10.0, 20.0, 30.0, 40.0), 101.0, BACKOFF)
    assert failed_for_s(failures, 101.0, BACKOFF) == 60.0


@given(times, st.floats(0, 1e6))
def test_forgetting_what_is_older_than_the_limit_changes_no_decision(
    history: list[float], now_s: float
) -> None:
    kept: tuple[float, ...] = ()
    for at_s in history:
        kept = remembered(kept, at_s, BACKOFF)
    assert len(kept) <= BACKOFF.limit
    assert failed_for_s(kept, now_s, BACKOFF) == failed_for_s(history, now_s, BACKOFF)
    assert start_delay_s(kept, now_s, BACKOFF) == start_delay_s(history, now_s, BACKOFF)
