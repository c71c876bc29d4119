"""Gentle work: the same parts, with rests between them that a cancel ends."""

import time
from collections.abc import Iterator

from daemon.synthesis.cosyvoice3.rest import gentle_threads, rested, slowdown


def slow_parts(count: int, part_s: float) -> Iterator[int]:
    for number in range(count):
        time.sleep(part_s)
        yield number


def test_half_of_the_threads_work_and_never_none() -> None:
    assert [gentle_threads(threads) for threads in (1, 2, 3, 4)] == [1, 1, 1, 2]
    assert slowdown(4) == 3.0


def test_all_parts_come_in_order_and_take_longer_by_the_rests() -> None:
    began_s = time.monotonic()
    assert list(rested(slow_parts(4, 0.1), lambda: False)) == [0, 1, 2, 3]
    assert 0.55 < time.monotonic() - began_s < 1.2


def test_a_cancel_ends_a_rest() -> None:
    parts = rested(slow_parts(2, 1.0), lambda: True)
    next(parts)
    began_s = time.monotonic()
    next(parts)
    assert time.monotonic() - began_s < 1.3
