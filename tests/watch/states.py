"""A state as a daemon publishes it, for tests of what is made of one."""

from typing import Any

import msgspec

from daemon.mqtt.messages import Event, Result, State
from daemon.watch.metrics import Latency, Report


def a_result(event: Event = Event.FINISHED, **changes: Any) -> Result:
    return Result(**({"id": "one", "event": event, "at": "2027-01-15T08:00:00.000Z"} | changes))


def a_report(**changes: Any) -> Report:
    fields: dict[str, Any] = {
        "results": {"finished": 246, "failed": 3, "expired": 1, "cancelled": 4, "rejected": 2},
        "failures": {"engine_failed": 2, "audio_device": 1},
        "rejections": {"text_too_long": 2},
        "success_rate": 0.984,
        "latency": Latency(count=246, sum_s=120.5, p50_s=0.42, p95_s=1.2, p99_s=2.5, max_s=9.75),
        "cache_hits": 123,
        "cache_hit_rate": 0.5,
        "spoken_s": 700.2,
        "rtf_median": 0.17,
        "worker_restarts": 2,
        "workers_recycled": 1,
        "broker_connections": 3,
        "throttled_s": {"warm": 300.0, "hot": 65.5, "critical": 0.0},
        "throttled_total_s": 365.5,
    }
    return Report(**(fields | changes))


def a_state(**changes: Any) -> State:
    fields: dict[str, Any] = {
        "status": "idle",
        "queue_length": 2,
        "speaking_id": None,
        "engine": "builtin",
        "throttle": "hot",
        "throttle_reason": "the processor has 81.2 °C",
        "temperature_c": 81.2,
        "undervoltage": False,
        "memory_available_bytes": 3 * 2**29,
        "memory_stall_percent": 2.5,
        "swap_free_bytes": 2**31,
        "disk_free_bytes": 10 * 2**30,
        "worker_rss_bytes": 300 * 2**20,
        "outputs_bytes": 12 * 2**20,
        "uptime_s": 273_900,
        "version": "1.2.3",
        "problems": ("the disk is nearly full",),
        "last": a_result(text="Dinner is ready"),
        "metrics": a_report(),
    }
    return State(**(fields | changes))


def published(state: State, without: tuple[str, ...] = (), **additions: Any) -> bytes:
    """The message of another version of the daemon: some fields less, some more."""
    fields = msgspec.to_builtins(state) | additions
    return msgspec.json.encode({name: value for name, value in fields.items() if name not in without})
