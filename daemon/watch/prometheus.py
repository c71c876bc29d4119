"""The state as Prometheus text, exposition format 0.0.4.

Format: https://prometheus.io/docs/instrumenting/exposition_formats/
Names and units: https://prometheus.io/docs/practices/naming/

What is unknown is left out: a graph must show a gap there, not 0.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from daemon.mqtt.messages import State
from daemon.watch.metrics import Latency, Report

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PREFIX = "cosyvoiced_"
STATUSES = ("starting", "idle", "speaking", "paused", "stopping")
LEVELS = ("normal", "warm", "hot", "critical")

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


class Sample(NamedTuple):
    """One value of a metric; whole numbers and truth values included."""

    value: float | None
    label: tuple[str, str] | None = None
    suffix: str = ""


class Metric(NamedTuple):
    """All samples of one name; `what` is one line without a backslash."""

    name: str
    kind: Literal["gauge", "counter", "summary"]
    what: str
    samples: Iterable[Sample]


def text(state: State | None, online: bool = True) -> str:
    """What a collector is given; of a daemon that is not online, only that."""
    return "".join(f"{line}\n" for metric in _metrics(state, online) for line in _lines(metric))


def _metrics(state: State | None, online: bool) -> Iterator[Metric]:
    yield _gauge("up", "Whether the daemon is online.", online)
    if state is not None and online:
        yield from _device(state)
        if state.metrics is not None:
            yield from _counted(state.metrics)


def _device(state: State) -> Iterator[Metric]:
    yield Metric("build_info", "gauge", "Version of the daemon.", [Sample(1, ("version", state.version))])
    yield Metric("engine_info", "gauge", "Engine it speaks with.", [Sample(1, ("engine", state.engine))])
    statuses = _one_of("status", state.status, STATUSES)
    yield Metric("status", "gauge", "What the daemon does, 1 for one of them.", statuses)
    levels = _one_of("level", state.throttle, LEVELS)
    yield Metric("throttle", "gauge", "What heat, memory and power allow, 1 for one of them.", levels)
    stall = state.memory_stall_percent
    yield _gauge("uptime_seconds", "Time since the daemon started.", state.uptime_s)
    yield _gauge("problems", "What is wrong with the device now.", len(state.problems))
    yield _gauge("queue_length", "Announcements that wait.", state.queue_length)
    yield _gauge("temperature_celsius", "Temperature of the processor.", state.temperature_c)
    yield _gauge("undervoltage", "Whether the power supply is too weak now.", state.undervoltage)
    yield _gauge("memory_available_bytes", "Free memory of the device.", state.memory_available_bytes)
    yield _gauge(
        "memory_stall_ratio",
        "Part of the last 10 s in which all tasks waited for memory.",
        None if stall is None else stall / 100,
    )
    yield _gauge("swap_free_bytes", "Free swap of the device.", state.swap_free_bytes)
    yield _gauge("disk_free_bytes", "Free space where the WAV files are.", state.disk_free_bytes)
    yield _gauge("outputs_bytes", "Size of the WAV files.", state.outputs_bytes)
    yield _gauge("worker_resident_memory_bytes", "Memory of the engine's process.", state.worker_rss_bytes)


def _counted(report: Report) -> Iterator[Metric]:
    for name, label, what, counts in (
        ("announcements_total", "event", "Announcements by how they ended.", report.results),
        ("failures_total", "code", "Failed or expired announcements by code.", report.failures),
        ("rejections_total", "code", "Rejected requests by code.", report.rejections),
        ("throttled_seconds_total", "level", "Time spent at a throttle level.", report.throttled_s),
    ):
        yield Metric(name, "counter", what, _each(label, counts))
    for name, what, value in (
        ("cache_hits_total", "Announcements out of the phrase cache.", report.cache_hits),
        ("speech_seconds_total", "Speech heard to its end.", report.spoken_s),
        ("worker_restarts_total", "Workers replaced because they failed.", report.worker_restarts),
        ("workers_recycled_total", "Workers replaced because they had grown.", report.workers_recycled),
        ("broker_connections_total", "Connections made to the MQTT broker.", report.broker_connections),
    ):
        yield Metric(name, "counter", what, [Sample(value)])
    yield _gauge("success_ratio", "Finished of those finished, failed or expired.", report.success_rate)
    yield _gauge("cache_hit_ratio", "Cached of those finished.", report.cache_hit_rate)
    yield _gauge("real_time_factor", "Median working seconds per second of speech.", report.rtf_median)
    if report.latency is not None:
        what = "From acceptance to the first sample; quantiles of the last 500."
        yield Metric("latency_seconds", "summary", what, _summary(report.latency))


def _gauge(name: str, what: str, value: float | None) -> Metric:
    return Metric(name, "gauge", what, [Sample(value)])


def _one_of(label: str, current: str, known: tuple[str, ...]) -> list[Sample]:
    """A series for each known value, and for one that only a newer daemon knows."""
    return [Sample(value == current, (label, value)) for value in dict.fromkeys((*known, current))]


def _each(label: str, values: Mapping[str, float]) -> list[Sample]:
    return [Sample(value, (label, key)) for key, value in values.items()]


def _summary(latency: Latency) -> list[Sample]:
    quantiles = {"0.5": latency.p50_s, "0.95": latency.p95_s, "0.99": latency.p99_s, "1": latency.max_s}
    totals = [Sample(latency.sum_s, suffix="_sum"), Sample(latency.count, suffix="_count")]
    return [*_each("quantile", quantiles), *totals]


def _lines(metric: Metric) -> list[str]:
    name = PREFIX + metric.name
    samples = [_line(name, sample) for sample in metric.samples if sample.value is not None]
    return [f"# HELP {name} {metric.what}", f"# TYPE {name} {metric.kind}", *samples] if samples else []


def _line(name: str, sample: Sample) -> str:
    label = f'{{{sample.label[0]}="{sample.label[1].translate(_ESCAPES)}"}}' if sample.label else ""
    value = int(sample.value) if isinstance(sample.value, bool) else sample.value
    return f"{name}{sample.suffix}{label} {value}"
