"""What a new announcement does to the others: Speech Dispatcher's rules, as pure functions.

Source: Speech Dispatcher's SSIP documentation, chapter "Priority categories".
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from daemon.clock import Moment
from daemon.jobs.job import Job, Priority
from daemon.jobs.journal import Entry

LAST_OF_SERIES_S = 2.0  # a progress that no newer one followed for so long was the series' last

Interrupt = Literal["postpone", "cancel"]

_ORDER = {
    Priority.IMPORTANT: 0,
    Priority.MESSAGE: 1,
    Priority.TEXT: 2,
    Priority.NOTIFICATION: 3,
    Priority.PROGRESS: 3,
}


class Arrival(NamedTuple):
    """What happens when a job arrives."""

    admitted: bool = True  # False: the new one itself is cancelled
    cancelled: tuple[int, ...] = ()  # seq of waiting jobs that end as cancelled
    interrupt: Interrupt | None = None  # what happens to the one being spoken


def arrive(new: Job, speaking: Entry | None, waiting: Sequence[Entry], paused: bool) -> Arrival:
    """Decides what a new job cancels, postpones or waits for."""
    current = speaking.job.priority if speaking else None

    def of(*priorities: Priority) -> tuple[int, ...]:
        return tuple(entry.seq for entry in waiting if entry.job.priority in priorities)

    # A progress cut while a newer one waits is old news; the last of a series is still to be heard.
    cut_progress: Interrupt = "cancel" if of(Priority.PROGRESS) else "postpone"
    cuts: dict[Priority, dict[Priority, Interrupt]] = {
        Priority.IMPORTANT: {
            Priority.MESSAGE: "postpone",
            Priority.TEXT: "postpone",
            Priority.NOTIFICATION: "cancel",
            Priority.PROGRESS: cut_progress,
        },
        Priority.MESSAGE: {
            Priority.TEXT: "cancel",
            Priority.NOTIFICATION: "cancel",
            Priority.PROGRESS: cut_progress,
        },
        Priority.TEXT: {
            Priority.TEXT: "cancel",
            Priority.NOTIFICATION: "cancel",
            Priority.PROGRESS: cut_progress,
        },
        Priority.NOTIFICATION: {Priority.NOTIFICATION: "cancel"},
        Priority.PROGRESS: {Priority.NOTIFICATION: "cancel"},
    }
    drops: dict[Priority, tuple[Priority, ...]] = {
        Priority.IMPORTANT: (Priority.NOTIFICATION,),
        Priority.MESSAGE: (Priority.TEXT, Priority.NOTIFICATION),
        Priority.TEXT: (Priority.TEXT, Priority.NOTIFICATION),
        Priority.NOTIFICATION: (Priority.NOTIFICATION,),
        Priority.PROGRESS: (Priority.PROGRESS, Priority.NOTIFICATION),
    }
    others = (Priority.IMPORTANT, Priority.MESSAGE, Priority.TEXT, Priority.PROGRESS)
    if new.priority == Priority.NOTIFICATION and (paused or current in others or of(*others)):
        return Arrival(admitted=False)
    if new.priority == Priority.PROGRESS and paused:
        return Arrival(admitted=False)
    interrupt = cuts[new.priority].get(current) if current else None
    return Arrival(cancelled=of(*drops[new.priority]), interrupt=interrupt)


def choose(waiting: Sequence[Entry], now: Moment) -> Entry | None:
    """The job to speak next, or None while there is none.

    The last progress of a series counts as a message once it has waited; before that it only
    gets its turn when nothing else waits.
    """

    def rank(entry: Entry) -> tuple[int, int]:
        job = entry.job
        raised = job.priority == Priority.PROGRESS and now.seconds_since(job.accepted_at) >= LAST_OF_SERIES_S
        return _ORDER[Priority.MESSAGE if raised else job.priority], entry.seq

    return min(waiting, key=rank, default=None)


def split_stale(waiting: Sequence[Entry], now: Moment) -> tuple[list[Entry], list[Entry]]:
    """Waiting jobs that are stale, and those that are not."""
    stale: list[Entry] = []
    fresh: list[Entry] = []
    for entry in waiting:
        is_stale = not entry.postponed and entry.job.expires_in_s(now) <= 0
        (stale if is_stale else fresh).append(entry)
    return stale, fresh
