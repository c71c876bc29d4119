"""Speech Dispatcher's five priorities: what each does to the others."""

import pytest

from daemon.jobs import policy
from daemon.jobs.job import Priority
from daemon.jobs.policy import Arrival
from tests.jobs.samples import FakeClock, a_job, an_entry

I, M, T, N, P = Priority  # noqa: E741 (the first letter of each)


@pytest.mark.parametrize(
    ("new", "speaking", "interrupt"),
    [
        (I, I, None),
        (I, M, "postpone"),
        (I, T, "postpone"),
        (I, N, "cancel"),
        (M, I, None),
        (M, M, None),
        (M, T, "cancel"),
        (M, N, "cancel"),
        (T, I, None),
        (T, M, None),
        (T, T, "cancel"),
        (T, N, "cancel"),
        (N, N, "cancel"),
        (P, P, None),
        (P, N, "cancel"),
        (P, M, None),
    ],
)
def test_what_is_spoken_is_cut_off_by_rank(new: Priority, speaking: Priority, interrupt: str | None) -> None:
    assert policy.arrive(new, speaking, [], paused=False).interrupt == interrupt


@pytest.mark.parametrize("new", [I, M, T])
def test_the_last_progress_of_a_series_is_postponed_and_an_older_one_cancelled(new: Priority) -> None:
    assert policy.arrive(new, P, [], paused=False).interrupt == "postpone"
    assert policy.arrive(new, P, [P], paused=False).interrupt == "cancel"


@pytest.mark.parametrize(("new", "dropped"), [(I, {N}), (M, {T, N}), (T, {T, N}), (N, {N}), (P, {P, N})])
def test_what_waits_is_dropped_by_rank(new: Priority, dropped: set[Priority]) -> None:
    assert set(policy.arrive(new, None, [], paused=False).dropped) == dropped


@pytest.mark.parametrize("other", [I, M, T, P])
def test_a_notification_is_not_spoken_while_anything_else_is_there(other: Priority) -> None:
    assert policy.arrive(N, other, [], paused=False) == Arrival(admitted=False)
    assert policy.arrive(N, None, [other], paused=False) == Arrival(admitted=False)
    assert policy.arrive(N, None, [N], paused=False).admitted


@pytest.mark.parametrize("new", list(Priority))
def test_while_paused_only_notification_and_progress_are_refused(new: Priority) -> None:
    assert policy.arrive(new, None, [], paused=True).admitted == (new in (I, M, T))


def test_the_highest_priority_comes_first_and_then_the_earliest() -> None:
    clock = FakeClock()
    entries = [an_entry(1, T), an_entry(2, M), an_entry(3, M), an_entry(4, I)]
    order = []
    while (chosen := policy.choose(entries, clock())) is not None:
        entries.remove(chosen)
        order.append(chosen.seq)
    assert order == [4, 2, 3, 1]


def test_the_last_progress_counts_as_a_message_once_no_newer_one_followed() -> None:
    clock = FakeClock()
    progress, text = an_entry(1, P, accepted_at=clock()), an_entry(2, T, accepted_at=clock())
    chosen = policy.choose([progress, text], clock())
    assert chosen is text
    clock.advance(policy.LAST_OF_SERIES_S)
    assert policy.choose([progress, text], clock()) is progress


def test_a_postponed_job_does_not_grow_stale() -> None:
    clock = FakeClock()
    entry = an_entry(1, accepted_at=clock(), ttl_s=10.0)
    clock.advance(10.0)
    assert policy.is_stale(entry, clock())
    assert not policy.is_stale(entry._replace(postponed=True), clock())


def test_staleness_ignores_a_jumping_wall_clock() -> None:
    clock = FakeClock()
    job = a_job(clock, ttl_s=10.0)
    clock.wall_s += 3600
    assert job.expires_in_s(clock()) == 10.0
    clock.wall_s -= 7200
    clock.boot_s += 4
    assert job.expires_in_s(clock()) == 6.0


def test_staleness_after_a_reboot_counts_by_the_wall_clock() -> None:
    clock = FakeClock()
    job = a_job(clock, ttl_s=10.0)
    clock.boot_id, clock.boot_s = "second", 1.0
    clock.wall_s += 7
    assert job.expires_in_s(clock()) == pytest.approx(3.0)
