"""What the daemon counts of itself: exact, small, and in the same memory for ever."""

import tracemalloc
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.errors import AnnouncementError, Code
from daemon.jobs.fallback import FallbackJournal
from daemon.jobs.journal import Entry
from daemon.jobs.ledger import Ledger
from daemon.mqtt.link import Link
from daemon.mqtt.messages import Event
from daemon.mqtt.results import Results
from daemon.mqtt.topics import Topics
from daemon.watch.metrics import WINDOW, Metrics, Report, percentile
from tests.fakes.link import FakeLink
from tests.jobs.samples import FakeClock, a_job
from tests.watch.states import a_result

MAX_REPORT_BYTES = 1000  # it goes out with every state, to each subscriber


def report_of(metrics: Metrics, now_s: float = 0.0) -> Report:
    return metrics.report(now_s, worker_restarts=0, broker_connections=1)


def end(metrics: Metrics, event: Event, *, aloud: bool = False, **fields: Any) -> None:
    metrics.ended(a_result(event, **fields), aloud=aloud)


def speak(metrics: Metrics, latency_s: float, job_id: str = "one") -> None:
    metrics.started(job_id, latency_s)
    end(metrics, Event.FINISHED, aloud=True, id=job_id, duration_s=2.0, cached=False, rtf=0.5)


def test_what_has_not_happened_is_unknown_and_not_zero() -> None:
    report = report_of(Metrics())
    assert (report.success_rate, report.latency, report.cache_hit_rate, report.rtf_median) == (None,) * 4
    assert report.results == {"finished": 0, "failed": 0, "expired": 0, "cancelled": 0, "rejected": 0}
    assert (report.failures, report.rejections) == ({}, {})


def test_what_nobody_wanted_or_nobody_can_do_is_no_failure() -> None:
    metrics = Metrics()
    for event, times in (("finished", 6), ("failed", 1), ("expired", 1), ("cancelled", 5), ("rejected", 7)):
        for _ in range(times):
            end(metrics, Event(event))
    report = report_of(metrics)
    assert report.success_rate == 0.75
    assert (report.results["cancelled"], report.results["rejected"]) == (5, 7)


def test_failures_and_rejections_are_told_apart_by_code() -> None:
    metrics = Metrics()
    for code in (Code.ENGINE_FAILED, Code.DISK_FULL, Code.ENGINE_FAILED):
        end(metrics, Event.FAILED, code=code)
    end(metrics, Event.EXPIRED, code=Code.THROTTLED)
    end(metrics, Event.EXPIRED)
    end(metrics, Event.REJECTED, code=Code.DISK_FULL)
    report = report_of(metrics)
    assert report.failures == {"engine_failed": 2, "disk_full": 1, "throttled": 1}
    assert report.rejections == {"disk_full": 1}


def test_latency_counts_once_per_announcement_from_its_first_beginning() -> None:
    metrics = Metrics()
    metrics.started("one", 0.5)
    speak(metrics, 30.0)  # it was postponed, and begun again
    latency = report_of(metrics).latency
    assert latency is not None
    assert (latency.count, latency.p50_s, latency.max_s, latency.sum_s) == (1, 0.5, 0.5, 0.5)


def test_a_file_that_nobody_hears_has_no_latency_and_is_not_spoken() -> None:
    metrics = Metrics()
    metrics.started("one", 0.001)
    end(metrics, Event.FINISHED, duration_s=2.0, cached=False, rtf=0.5)
    report = report_of(metrics)
    assert (report.latency, report.spoken_s, report.rtf_median) == (None, 0.0, 0.5)


def test_a_rejected_request_takes_nothing_from_the_job_whose_id_it_repeats() -> None:
    metrics = Metrics()
    metrics.started("one", 1.5)
    end(metrics, Event.REJECTED, code=Code.DUPLICATE)
    end(metrics, Event.FINISHED, aloud=True, duration_s=1.0)
    latency = report_of(metrics).latency
    assert latency is not None
    assert latency.max_s == 1.5


def test_percentiles_look_back_on_the_window_and_sums_on_everything() -> None:
    metrics = Metrics()
    speak(metrics, 1000.0)
    for latency_ms in range(1, WINDOW + 1):
        speak(metrics, latency_ms / 1000)
    latency = report_of(metrics).latency
    assert latency is not None
    assert (latency.p50_s, latency.p95_s, latency.p99_s, latency.max_s) == (0.25, 0.475, 0.495, 0.5)
    assert (latency.count, latency.sum_s) == (WINDOW + 1, 1125.25)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=WINDOW), st.integers(1, 100))
def test_a_percentile_is_the_smallest_value_that_so_many_do_not_exceed(
    values: list[float], percent: int
) -> None:
    found = percentile(values, percent)
    assert found in values
    assert 100 * sum(value <= found for value in values) >= percent * len(values)
    assert 100 * sum(value < found for value in values) < percent * len(values)


def test_the_cache_rate_is_of_what_made_sound() -> None:
    metrics = Metrics()
    for cached in (True, True, True, False):
        end(metrics, Event.FINISHED, cached=cached, rtf=None if cached else 0.25)
    end(metrics, Event.FAILED, cached=False, rtf=9.0)
    end(metrics, Event.EXPIRED)
    report = report_of(metrics)
    assert (report.cache_hits, report.cache_hit_rate, report.rtf_median) == (3, 0.75, 0.25)


def test_throttled_time_adds_up_by_level() -> None:
    metrics = Metrics()
    for now_s, level in ((100, "warm"), (110, "hot"), (115, "hot"), (140, "normal"), (200, "warm")):
        metrics.throttle(level, now_s)
    report = report_of(metrics, now_s=207.5)
    assert report.throttled_s == {"warm": 17.5, "hot": 30.0, "critical": 0.0}
    assert report.throttled_total_s == 47.5
    assert report_of(metrics, now_s=207.5) == report, "a look changes nothing"


def test_what_is_counted_elsewhere_is_passed_on() -> None:
    metrics = Metrics()
    metrics.recycled()
    report = metrics.report(0.0, worker_restarts=4, broker_connections=9)
    assert (report.workers_recycled, report.worker_restarts, report.broker_connections) == (1, 4, 9)


def test_the_report_of_a_bad_year_is_small() -> None:
    metrics = Metrics()
    for code in Code:
        for _ in range(1000):
            end(metrics, Event.REJECTED, code=code)
    for code in (Code.ENGINE_FAILED, Code.ENGINE_TIMEOUT, Code.AUDIO_DEVICE, Code.DISK_FULL, Code.THROTTLED):
        for _ in range(1000):
            end(metrics, Event.FAILED, code=code)
    for number in range(2 * WINDOW):
        speak(metrics, 1234.567, f"job {number}")
    for now_s, level in ((0.0, "warm"), (9_999_999.9, "hot"), (19_999_999.8, "critical")):
        metrics.throttle(level, now_s)
    report = metrics.report(31_536_000.0, worker_restarts=99_999, broker_connections=99_999)
    assert len(msgspec.json.encode(report)) < MAX_REPORT_BYTES


def test_ten_thousand_announcements_take_no_more_memory_than_a_thousand() -> None:
    metrics = Metrics()

    def announce(count: int) -> int:
        for number in range(count):
            speak(metrics, number / 1000, f"job {number}")
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before_bytes = announce(2 * WINDOW)
        assert announce(20 * WINDOW) - before_bytes < 10_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("output", "degraded", "heard"),
    [("both", (), True), ("speaker", ("file",), True), ("file", (), False), ("both", ("speaker",), False)],
)
async def test_results_count_what_the_loudspeaker_gave(
    output: str, degraded: tuple[str, ...], heard: bool, tmp_path: Path
) -> None:
    clock, metrics = FakeClock(), Metrics()
    ledger = Ledger(FallbackJournal(tmp_path / "journal.sqlite"), clock)
    results = Results(cast(Link, FakeLink()), Topics("cosyvoice", "test"), ledger, clock, metrics)
    await ledger.start()
    job = a_job(clock, output=output)
    (entry,) = await ledger.accept([(job, False)])
    assert isinstance(entry, Entry)
    clock.advance(1.25)
    results.started(job, results.describe(job, Event.STARTED))
    results.rejected(AnnouncementError(Code.DUPLICATE, "used"), job.id, None, None)
    finished = results.describe(job, Event.FINISHED)
    finished = msgspec.structs.replace(finished, duration_s=3.0, cached=True, degraded=degraded)
    await results.final([(entry, finished)])
    await results.tell_again()
    await ledger.stop()
    report = report_of(metrics)
    assert (report.results["finished"], report.results["rejected"]) == (1, 1)
    assert report.rejections == {"duplicate": 1}
    assert (report.spoken_s, report.cache_hits) == (3.0 if heard else 0.0, 1)
    assert (report.latency.max_s if report.latency else None) == (1.25 if heard else None)
