"""The Prometheus text, read by a strict reader of exposition format 0.0.4."""

import re
from typing import NamedTuple

from daemon.watch import prometheus
from tests.watch.states import a_report, a_state

HELP = re.compile(r"# HELP (cosyvoiced_[a-z0-9_]+) ([^\\\n]+)")
TYPE = re.compile(r"# TYPE (cosyvoiced_[a-z0-9_]+) (gauge|counter|summary)")
SAMPLE = re.compile(
    r"(?P<name>cosyvoiced_[a-z0-9_]+)"
    r'(?:\{(?P<label>[a-z]+)="(?P<value>(?:[^"\\\n]|\\["\\n])*)"\})? (?P<number>-?[0-9.]+(?:e[+-]?\d+)?)'
)
UNESCAPED = {r"\\": "\\", r"\"": '"', r"\n": "\n"}


class Exposition(NamedTuple):
    kinds: dict[str, str]
    samples: dict[tuple[str, str | None], float]  # by name and label value


def read(text: str) -> Exposition:
    """Every metric has HELP, TYPE and samples, in one block; every series stands there once."""
    found = Exposition({}, {})
    assert text.endswith("\n")
    rows = iter(text.removesuffix("\n").split("\n"))
    name = ""
    for row in rows:
        if row.startswith("#"):
            helped, typed = HELP.fullmatch(row), TYPE.fullmatch(next(rows))
            assert helped, row
            assert typed, row
            assert helped[1] == typed[1] != name
            name = typed[1]
            assert name not in found.kinds, "one block for each metric"
            found.kinds[name] = typed[2]
            continue
        sample = SAMPLE.fullmatch(row)
        assert sample, row
        suffixes = ("", "_sum", "_count") if found.kinds[name] == "summary" else ("",)
        assert sample["name"] in [name + suffix for suffix in suffixes]
        label = sample["value"]
        key = label if label is None else re.sub(r"\\.", lambda match: UNESCAPED[match[0]], label)
        assert (sample["name"], key) not in found.samples
        found.samples[sample["name"], key] = float(sample["number"])
    assert {name.removesuffix("_sum").removesuffix("_count") for name, _ in found.samples} == set(found.kinds)
    return found


def value(text: str, name: str, label: str | None = None) -> float | None:
    return read(text).samples.get((f"cosyvoiced_{name}", label))


def test_everything_known_is_told_in_base_units() -> None:
    text = prometheus.text(a_state())
    for name, label, expected in (
        ("up", None, 1),
        ("build_info", "1.2.3", 1),
        ("engine_info", "builtin", 1),
        ("uptime_seconds", None, 273_900),
        ("problems", None, 1),
        ("queue_length", None, 2),
        ("temperature_celsius", None, 81.2),
        ("undervoltage", None, 0),
        ("memory_available_bytes", None, 3 * 2**29),
        ("memory_stall_ratio", None, 0.025),
        ("swap_free_bytes", None, 2**31),
        ("disk_free_bytes", None, 10 * 2**30),
        ("outputs_bytes", None, 12 * 2**20),
        ("worker_resident_memory_bytes", None, 300 * 2**20),
        ("announcements_total", "finished", 246),
        ("announcements_total", "rejected", 2),
        ("failures_total", "engine_failed", 2),
        ("rejections_total", "text_too_long", 2),
        ("success_ratio", None, 0.984),
        ("cache_hits_total", None, 123),
        ("cache_hit_ratio", None, 0.5),
        ("speech_seconds_total", None, 700.2),
        ("real_time_factor", None, 0.17),
        ("worker_restarts_total", None, 2),
        ("workers_recycled_total", None, 1),
        ("broker_connections_total", None, 3),
        ("throttled_seconds_total", "hot", 65.5),
        ("throttled_seconds_total", "critical", 0),
    ):
        assert value(text, name, label) == expected, name


def test_latency_is_a_summary() -> None:
    text = prometheus.text(a_state())
    assert read(text).kinds["cosyvoiced_latency_seconds"] == "summary"
    quantiles = [value(text, "latency_seconds", quantile) for quantile in ("0.5", "0.95", "0.99", "1")]
    assert quantiles == [0.42, 1.2, 2.5, 9.75]
    assert (value(text, "latency_seconds_sum"), value(text, "latency_seconds_count")) == (120.5, 246)


def test_counters_and_only_counters_end_in_total() -> None:
    for name, kind in read(prometheus.text(a_state())).kinds.items():
        assert name.endswith("_total") == (kind == "counter"), name


def test_the_unknown_is_left_out_with_its_help() -> None:
    state = a_state(
        temperature_c=None,
        undervoltage=None,
        memory_available_bytes=None,
        memory_stall_percent=None,
        swap_free_bytes=None,
        disk_free_bytes=None,
        metrics=a_report(latency=None, success_rate=None, cache_hit_rate=None, rtf_median=None, failures={}),
    )
    kinds = read(prometheus.text(state)).kinds
    for name in (
        *("temperature_celsius", "undervoltage", "memory_available_bytes", "memory_stall_ratio"),
        *("swap_free_bytes", "disk_free_bytes", "latency_seconds", "success_ratio", "cache_hit_ratio"),
        *("real_time_factor", "failures_total"),
    ):
        assert f"cosyvoiced_{name}" not in kinds
    assert "cosyvoiced_queue_length" in kinds


def test_an_older_daemon_without_metrics_is_told_of_all_the_same() -> None:
    text = prometheus.text(a_state(metrics=None))
    assert value(text, "uptime_seconds") == 273_900
    assert "announcements" not in text


def test_throttle_and_status_are_sets_of_which_one_holds() -> None:
    text = prometheus.text(a_state(throttle="warm", status="speaking"))
    levels = {level: value(text, "throttle", level) for level in ("normal", "warm", "hot", "critical")}
    assert levels == {"normal": 0, "warm": 1, "hot": 0, "critical": 0}
    assert (value(text, "status", "speaking"), value(text, "status", "idle")) == (1, 0)


def test_a_level_of_a_newer_daemon_has_a_series_of_its_own() -> None:
    text = prometheus.text(a_state(throttle="melting"))
    assert (value(text, "throttle", "melting"), value(text, "throttle", "critical")) == (1, 0)


def test_labels_are_escaped() -> None:
    strange = 'a"b\\c\nd\\n{e="f"} 今天\u2028\r'
    text = prometheus.text(a_state(engine=strange))
    assert value(text, "engine_info", strange) == 1


def test_of_a_daemon_that_is_offline_only_that_is_told() -> None:
    assert read(prometheus.text(a_state(), online=False)).samples == {("cosyvoiced_up", None): 0}
    assert read(prometheus.text(None, online=False)).samples == {("cosyvoiced_up", None): 0}
    assert read(prometheus.text(None)).samples == {("cosyvoiced_up", None): 1}
