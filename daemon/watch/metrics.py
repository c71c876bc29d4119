"""How well the daemon has done since it started: counted here, published in `<n>/state`."""

from collections import Counter, deque
from collections.abc import Collection
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:  # a `Report` is part of the messages, so these cannot be imported first
    from daemon.mqtt.messages import Result

WINDOW = 500  # announcements that percentiles look back on: a day of a busy home
ENDS = ("finished", "failed", "expired", "cancelled", "rejected")
FAILED = ("failed", "expired")
THROTTLED = ("warm", "hot", "critical")


class Latency(msgspec.Struct, frozen=True, kw_only=True):
    """From the acceptance of an announcement to its first sample, of those that were heard to their end."""

    count: int  # since the start, as is the sum; the others are of the last `WINDOW`
    sum_s: float
    p50_s: float
    p95_s: float
    p99_s: float
    max_s: float


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What `Metrics` has counted; None is unknown as yet, and a code that never occurred is left out."""

    results: dict[str, int]  # by final event
    failures: dict[str, int]  # failed or expired, by code
    rejections: dict[str, int]  # by code
    success_rate: float | None  # finished of those that were tried, see `Metrics.ended`
    latency: Latency | None
    cache_hits: int
    cache_hit_rate: float | None  # of the finished ones that made sound
    spoken_s: float  # speech heard to its end, each text once however often it was repeated
    rtf_median: float | None  # of the last `WINDOW` that an engine made
    worker_restarts: int
    workers_recycled: int  # replaced because they had grown too large
    broker_connections: int
    throttled_s: dict[str, float]  # by level
    throttled_total_s: float


class Metrics:
    """Counts what happens; holds the same memory however long it counts."""

    def __init__(self) -> None:
        self._results: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()
        self._rejections: Counter[str] = Counter()
        self._begun: dict[str, float] = {}  # latency in seconds of what is spoken, postponed or fading out
        self._latencies_s: deque[float] = deque(maxlen=WINDOW)
        self._latency_count = 0
        self._latency_sum_s = 0.0
        self._cache_hits = 0
        self._cache_misses = 0
        self._spoken_s = 0.0
        self._rtfs: deque[float] = deque(maxlen=WINDOW)
        self._recycled = 0
        self._throttled_s = dict.fromkeys(THROTTLED, 0.0)
        self._level = "normal"
        self._level_since_s = 0.0

    def started(self, job_id: str, latency_s: float) -> None:
        """Notes how long after its acceptance a job was first heard; begun again, the first time counts."""
        self._begun.setdefault(job_id, latency_s)

    def ended(self, result: "Result", aloud: bool = False) -> None:
        """Counts a final result; `aloud`: it was heard to its last sample.

        What was cancelled or rejected says nothing of how well the daemon works: somebody did not want
        it any more, or asked for what cannot be had. So the success rate leaves both out.
        """
        self._results[result.event] += 1
        if result.event == "rejected":  # it was no job, and may bear the id of one that is being spoken
            if result.code is not None:
                self._rejections[result.code] += 1
            return
        latency_s = self._begun.pop(result.id, None)
        if result.event in FAILED and result.code is not None:
            self._failures[result.code] += 1
        if result.event == "finished":
            self._count_sound(result)
        if aloud:
            self._spoken_s += result.duration_s or 0.0
            if latency_s is not None:
                self._latencies_s.append(latency_s)
                self._latency_count += 1
                self._latency_sum_s += latency_s

    def recycled(self) -> None:
        """Counts a worker that was replaced because it had grown too large."""
        self._recycled += 1

    def throttle(self, level: str, now_s: float) -> None:
        """Notes the throttle level from now on; `now_s` is on the monotonic clock."""
        self._throttled_s = self._throttled_until(now_s)
        self._level, self._level_since_s = level, now_s

    def report(self, now_s: float, *, worker_restarts: int, broker_connections: int) -> Report:
        """What was counted until now; `now_s` is on the clock of `throttle`."""
        throttled_s = self._throttled_until(now_s)
        finished = self._results["finished"]
        tried = finished + sum(self._results[event] for event in FAILED)
        return Report(
            results={event: self._results[event] for event in ENDS},
            failures=dict(self._failures),
            rejections=dict(self._rejections),
            success_rate=_rate(finished, tried),
            latency=self._latency(),
            cache_hits=self._cache_hits,
            cache_hit_rate=_rate(self._cache_hits, self._cache_hits + self._cache_misses),
            spoken_s=round(self._spoken_s, 1),
            rtf_median=round(percentile(self._rtfs, 50), 3) if self._rtfs else None,
            worker_restarts=worker_restarts,
            workers_recycled=self._recycled,
            broker_connections=broker_connections,
            throttled_s={level: round(spent_s, 1) for level, spent_s in throttled_s.items()},
            throttled_total_s=round(sum(throttled_s.values()), 1),
        )

    def _count_sound(self, result: "Result") -> None:
        if result.cached is not None:
            self._cache_hits += result.cached
            self._cache_misses += not result.cached
        if result.rtf is not None:
            self._rtfs.append(result.rtf)

    def _throttled_until(self, now_s: float) -> dict[str, float]:
        spent_s = dict(self._throttled_s)
        if self._level in spent_s:
            spent_s[self._level] += max(0.0, now_s - self._level_since_s)
        return spent_s

    def _latency(self) -> Latency | None:
        if not self._latencies_s:
            return None
        p50_s, p95_s, p99_s, max_s = (
            round(percentile(self._latencies_s, percent), 3) for percent in (50, 95, 99, 100)
        )
        return Latency(
            count=self._latency_count,
            sum_s=round(self._latency_sum_s, 3),
            p50_s=p50_s,
            p95_s=p95_s,
            p99_s=p99_s,
            max_s=max_s,
        )


def percentile(values: Collection[float], percent: int) -> float:
    """The nearest-rank percentile, 1 to 100: one of the values itself. There must be at least one."""
    rank = -(-percent * len(values) // 100)  # rounded up in whole numbers: 0.95 * 20 need not be 19
    return sorted(values)[rank - 1]


def _rate(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
