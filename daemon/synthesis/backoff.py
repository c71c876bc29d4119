"""When a failing engine is started again: pure functions of its failures since the last success."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Backoff:
    """How patient we are with an engine that crashes, hangs or does not load."""

    limit: int = 5  # failures within `window_s` after which it counts as failed
    window_s: float = 300.0
    cool_down_s: float = 60.0  # then one more start is tried; its failure begins the next cool-down
    second_delay_s: float = 1.0  # after the second failure in a row; then doubled for each further one


def start_delay_s(failures: Sequence[float], now_s: float, backoff: Backoff) -> float:
    """Seconds to wait before the next start: none after one failure, since someone waits for the retry."""
    recent = _recent(failures, backoff)
    if len(recent) < 2:
        return 0.0
    delay_s = backoff.second_delay_s * 2.0 ** (min(len(recent), backoff.limit) - 2)
    return max(0.0, recent[-1] + delay_s - now_s)


def failed_for_s(failures: Sequence[float], now_s: float, backoff: Backoff) -> float:
    """Seconds for which the engine still counts as failed and is not started; 0 when it may be."""
    recent = _recent(failures, backoff)
    if len(recent) < backoff.limit:
        return 0.0
    return max(0.0, recent[-1] + backoff.cool_down_s - now_s)


def remembered(failures: Sequence[float], failed_at_s: float, backoff: Backoff) -> tuple[float, ...]:
    """The history with one more failure; no longer than any decision needs."""
    return (*failures, failed_at_s)[-backoff.limit :]


def _recent(failures: Sequence[float], backoff: Backoff) -> Sequence[float]:
    """The failures within one window up to the latest one."""
    return [at_s for at_s in failures if at_s > failures[-1] - backoff.window_s]
