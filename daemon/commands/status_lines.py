"""A daemon's state as lines for a person."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from daemon.commands.shown import UNKNOWN, printable
from daemon.mqtt.messages import Event, Result, State
from daemon.watch.metrics import Report

MAX_TEXT_LENGTH = 60  # of an announcement; more of it would push its error off the screen


def lines(state: State) -> list[str]:
    """Aligned lines; nothing in them moves the cursor, whoever published the state."""
    return [printable(f"{part:9} {what}") for part, what in _parts(state)]


def _parts(state: State) -> Iterator[tuple[str, str]]:
    report = state.metrics
    for problem in state.problems:
        yield "PROBLEM", problem
    yield "doing", state.status + (f" '{state.speaking_id}'" if state.speaking_id else "")
    yield "engine", state.engine
    yield "throttle", state.throttle + (f": {state.throttle_reason}" if state.throttle_reason else "")
    yield "heat", UNKNOWN if state.temperature_c is None else f"{state.temperature_c:.1f} °C"
    yield "power", _power(state.undervoltage)
    yield "memory", _memory(state)
    yield "worker", _worker(state.worker_rss_bytes, report)
    yield "disk", f"{_free(state.disk_free_bytes)}, the WAV files take {_size(state.outputs_bytes)}"
    yield "queue", f"{state.queue_length} waiting" if state.queue_length else "empty"
    yield "success", UNKNOWN if report is None else _success(report)
    yield "latency", UNKNOWN if report is None else _latency(report)
    yield "cache", UNKNOWN if report is None else _cache(report)
    yield "throttled", UNKNOWN if report is None else _throttled(report)
    yield "last", "nothing is known of it" if state.last is None else _last(state.last)
    yield "uptime", span(state.uptime_s)
    yield "version", state.version


def _power(undervoltage: bool | None) -> str:
    if undervoltage is None:
        return UNKNOWN
    return "too weak: connect a stronger power supply" if undervoltage else "well"


def _memory(state: State) -> str:
    parts = [_free(state.memory_available_bytes)]
    if state.swap_free_bytes is not None:
        parts.append(f"swap {_size(state.swap_free_bytes)} free")
    if state.memory_stall_percent is not None:
        parts.append(f"{state.memory_stall_percent:.1f} % of the time lost to waiting for it")
    return ", ".join(parts)


def _worker(rss_bytes: int, report: Report | None) -> str:
    parts = [_size(rss_bytes) if rss_bytes else "not loaded"]
    if report is not None and report.worker_restarts:
        parts.append(f"{report.worker_restarts} replaced after a failure")
    if report is not None and report.workers_recycled:
        parts.append(f"{report.workers_recycled} replaced for its size")
    return ", ".join(parts)


def _success(report: Report) -> str:
    counts = ", ".join(f"{count} {event}" for event, count in report.results.items() if count)
    if report.success_rate is None:
        return counts or "nothing was tried yet"
    codes = _counts({**report.rejections, **report.failures}) if report.failures or report.rejections else ""
    return f"{_percent(report.success_rate)}: {counts}" + (f" ({codes})" if codes else "")


def _latency(report: Report) -> str:
    latency = report.latency
    if latency is None:
        return "nothing was heard yet"
    return (
        f"{latency.p50_s:.2f} s in the middle, 95 % within {latency.p95_s:.2f} s, "
        f"99 % within {latency.p99_s:.2f} s, at most {latency.max_s:.2f} s"
    )


def _cache(report: Report) -> str:
    if report.cache_hit_rate is None:
        return "nothing was asked of it yet"
    return f"{_percent(report.cache_hit_rate)} of the announcements came out of it"


def _throttled(report: Report) -> str:
    spent = ", ".join(f"{level} {span(spent_s)}" for level, spent_s in report.throttled_s.items() if spent_s)
    return spent or "never"


def _last(last: Result) -> str:
    head = f"{last.event} {_local_time(last.at)}"
    text = "" if last.text is None else f" '{last.text[:MAX_TEXT_LENGTH]}'"
    if len(last.text or "") > MAX_TEXT_LENGTH:
        text = text[:-1] + "...'"
    why = ": ".join(part for part in (last.code, last.message) if part)
    if last.event == Event.FINISHED and last.degraded:
        why = f"without {', '.join(last.degraded)}"
    return head + text + (f"; {why}" if why else "")


def _local_time(at: str) -> str:
    try:
        return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError):  # not ours: shown as it came
        return at


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def _free(free_bytes: int | None) -> str:
    return UNKNOWN if free_bytes is None else f"{_size(free_bytes)} free"


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 2**30:.1f} GiB" if size_bytes >= 2**30 else f"{size_bytes / 2**20:.0f} MiB"


def _percent(rate: float) -> str:
    return f"{100 * rate:.1f} %"


def span(seconds: float) -> str:
    """A time span in its two largest units: `3 d 4 h`."""
    units = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))
    left, parts = round(seconds), []
    for unit, length_s in units:
        count, left = divmod(left, length_s)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"
