"""The daemon's public messages: what it publishes under `<n>/`."""

from datetime import UTC, datetime
from enum import StrEnum

import msgspec

from daemon.errors import Code
from daemon.watch.metrics import Report


class Event(StrEnum):
    ACCEPTED = "accepted"
    STARTED = "started"
    FINISHED = "finished"
    FAILED = "failed"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    REJECTED = "rejected"

    @property
    def is_final(self) -> bool:
        return self not in (Event.ACCEPTED, Event.STARTED)


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """`<n>/result`: what became of one request."""

    id: str
    event: Event
    code: Code | None = None
    message: str | None = None
    text: str | None = None
    voice: str | None = None
    style: str | None = None
    engine: str | None = None
    wav_path: str | None = None
    duration_s: float | None = None
    sample_rate_hz: int | None = None
    cached: bool | None = None
    rtf: float | None = None  # working seconds per second of speech; none when cached
    degraded: tuple[str, ...] = ()
    at: str  # ISO 8601 with milliseconds, UTC


STATUSES = ("starting", "idle", "speaking", "paused", "stopping")


class State(msgspec.Struct, frozen=True, kw_only=True):
    """`<n>/state`, retained: how the device is."""

    status: str  # one of STATUSES
    queue_length: int
    speaking_id: str | None
    engine: str
    throttle: str  # normal | warm | hot | critical
    throttle_reason: str | None
    temperature_c: float | None
    undervoltage: bool | None = None  # the power supply is too weak now
    memory_available_bytes: int | None
    memory_stall_percent: float | None = None  # of the last 10 s in which all tasks waited for memory
    swap_free_bytes: int | None = None
    disk_free_bytes: int | None = None  # where the WAV files are
    worker_rss_bytes: int
    outputs_bytes: int
    uptime_s: int
    version: str
    problems: tuple[str, ...] = ()  # what is wrong with the device now, a sentence each
    metrics: Report | None = None  # since the start
    last: Result | None


def timestamp(wall_s: float) -> str:
    return datetime.fromtimestamp(wall_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
