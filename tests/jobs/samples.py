"""Jobs and clocks for the tests of this folder."""

from typing import Any

from daemon.clock import Moment
from daemon.jobs.job import Job, Priority
from daemon.jobs.journal import Entry


class FakeClock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.wall_s = 1_800_000_000.0
        self.boot_s = 1000.0
        self.boot_id = "first"

    def __call__(self) -> Moment:
        return Moment(self.wall_s, self.boot_s, self.boot_id)

    def advance(self, seconds: float) -> None:
        self.wall_s += seconds
        self.boot_s += seconds


def a_job(clock: FakeClock | None = None, **changes: Any) -> Job:
    fields: dict[str, Any] = {
        "id": "one",
        "text": "Dinner is ready",
        "language": "en",
        "style": "neutral",
        "voice": None,
        "seed": 0,
        "speed": 1.0,
        "volume": None,
        "priority": Priority.MESSAGE,
        "chime": None,
        "repeat": 1,
        "repeat_pause_s": 1.0,
        "ttl_s": 120.0,
        "output": "both",
        "reply_to": None,
        "correlation_data": None,
        "accepted_at": (clock or FakeClock())(),
    }
    return Job(**{**fields, **changes})


def an_entry(seq: int, priority: Priority = Priority.MESSAGE, **changes: Any) -> Entry:
    return Entry(seq, a_job(id=f"job-{seq}", priority=priority, **changes))
