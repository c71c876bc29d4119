"""Work that leaves the processor time to cool: fewer threads, and a rest after each part."""

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

T = TypeVar("T")

REST_SHARE = 0.5  # of the time that the part before took
MAX_REST_S = 5.0
LOOK_S = 0.05  # a cancel is noticed so soon


def gentle_threads(threads: int) -> int:
    """Half of them: with the rests, a third of the heat."""
    return max(1, threads // 2)


def slowdown(threads: int) -> float:
    """How much longer gentle work takes, at most."""
    return threads / gentle_threads(threads) * (1 + REST_SHARE)


def rested(parts: Iterator[T], cancelled: Callable[[], bool]) -> Iterator[T]:
    """The same parts, with a rest before the next one is made; none once `cancelled()`."""
    began_s = time.monotonic()
    for part in parts:
        took_s = time.monotonic() - began_s
        yield part
        _rest(min(REST_SHARE * took_s, MAX_REST_S), cancelled)
        began_s = time.monotonic()


def _rest(duration_s: float, cancelled: Callable[[], bool]) -> None:
    ends_s = time.monotonic() + duration_s
    while (left_s := ends_s - time.monotonic()) > 0 and not cancelled():
        time.sleep(min(left_s, LOOK_S))
