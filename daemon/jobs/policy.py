"""What a new announcement does to the others: Speech Dispatcher's rules, as pure functions.

Source: Speech Dispatcher's SSIP documentation, chapter "Priority categories".
"""

from collections.abc import Collection, Iterable
from typing import Literal, NamedTuple

from daemon.clock import Moment
from daemon.jobs.job import Priority
from daemon.jobs.journal import Entry

LAST_OF_SERIES_S = 2.0  # a progress that no newer one followed for so long was the series' last

Interrupt = Literal["postpone", "cancel"]

_IMPORTANT, _MESSAGE, _TEXT, _NOTIFICATION, _PROGRESS = Priority

# What each priority cuts off while it is being spoken. A progress is cut off as `_cut_progress` says.
_CUTS: dict[Priority, dict[Priority, Interrupt]] = {
    _IMPORTANT: {_MESSAGE: "postpone", _TEXT: "postpone", _NOTIFICATION: "cancel"},
    _MESSAGE: {_TEXT: "cancel", _NOTIFICATION: "cancel"},
    _TEXT: {_TEXT: "cancel", _NOTIFICATION: "cancel"},
    _NOTIFICATION: {_NOTIFICATION: "cancel"},
    _PROGRESS: {_NOTIFICATION: "cancel"},
}
# What each priority makes of no use while it waits.
_DROPS: dict[Priority, tuple[Priority, ...]] = {
    _IMPORTANT: (_NOTIFICATION,),
    _MESSAGE: (_TEXT, _NOTIFICATION),
    _TEXT: (_TEXT, _NOTIFICATION),
    _NOTIFICATION: (_NOTIFICATION,),
    _PROGRESS: (_PROGRESS, _NOTIFICATION),
}
_RANK = {_IMPORTANT: 0, _MESSAGE: 1, _TEXT: 2, _NOTIFICATION: 3, _PROGRESS: 3}


class Arrival(NamedTuple):
    """What happens when a job arrives."""

    admitted: bool = True  # False: the new one itself ends as cancelled
    dropped: tuple[Priority, ...] = ()  # waiting jobs of these priorities end as cancelled
    interrupt: Interrupt | None = None  # what happens to the one being spoken


def arrive(new: Priority, speaking: Priority | None, waiting: Collection[Priority], paused: bool) -> Arrival:
    """Decides what a new job cancels, postpones or waits for.

    Args:
        speaking: the priority of the job being spoken.
        waiting: the priorities of which jobs wait.
    """
    if new == _NOTIFICATION and (paused or ({speaking, *waiting} - {None, _NOTIFICATION})):
        return Arrival(admitted=False)
    if new == _PROGRESS and paused:
        return Arrival(admitted=False)
    interrupt = _CUTS[new].get(speaking) if speaking else None
    if speaking == _PROGRESS and new in (_IMPORTANT, _MESSAGE, _TEXT):
        # Cut while a newer one waits, it is old news; as the last of its series it is still to be heard.
        interrupt = "cancel" if _PROGRESS in waiting else "postpone"
    return Arrival(dropped=_DROPS[new], interrupt=interrupt)


def choose(candidates: Iterable[Entry], now: Moment) -> Entry | None:
    """The job to speak next, or None. The last progress of a series counts as a message once it waited."""

    def rank(entry: Entry) -> tuple[int, int]:
        waited_s = now.seconds_since(entry.job.accepted_at)
        raised = entry.job.priority == _PROGRESS and waited_s >= LAST_OF_SERIES_S
        return _RANK[_MESSAGE if raised else entry.job.priority], entry.seq

    return min(candidates, key=rank, default=None)


def is_stale(entry: Entry, now: Moment) -> bool:
    """Whether it waited longer than it may. One that was begun and postponed is not stale any more."""
    return not entry.postponed and entry.job.expires_in_s(now) <= 0
