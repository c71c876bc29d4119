"""The announcements that wait, and the one that is being spoken. In memory; the journal is behind it."""

import asyncio
import bisect
from collections.abc import Callable, Sequence
from typing import NamedTuple

from daemon.clock import Clock, Moment
from daemon.errors import AnnouncementError, Code
from daemon.jobs import policy
from daemon.jobs.job import Priority
from daemon.jobs.journal import Entry


class Admission(NamedTuple):
    """What the arrival of one job did to others; the caller reports it."""

    dropped: list[Entry]  # jobs that end as cancelled, the new one itself included
    interrupt: policy.Interrupt | None


Restraint = Callable[[Entry], AnnouncementError | None]


def _free(_entry: Entry) -> None:
    """No reason against any job."""


class JobQueue:
    """Bounded; ordered by priority and arrival; knows which job is current."""

    def __init__(self, limit: int, clock: Clock) -> None:
        self._limit = limit
        self._clock = clock
        self._waiting: dict[Priority, list[Entry]] = {priority: [] for priority in Priority}
        self._changed = asyncio.Event()
        self._restraint: Restraint = _free
        self.current: Entry | None = None
        self.paused = False

    def __len__(self) -> int:
        return sum(len(entries) for entries in self._waiting.values())

    @property
    def waiting(self) -> list[Entry]:
        return [entry for entries in self._waiting.values() for entry in entries]

    def check_room(self, priority: Priority) -> None:
        """Raises `AnnouncementError` (queue_full). Important ones have as much room of their own."""
        important = len(self._waiting[Priority.IMPORTANT])
        if (important if priority == Priority.IMPORTANT else len(self) - important) >= self._limit:
            raise AnnouncementError(Code.QUEUE_FULL, f"{self._limit} announcements are waiting already")

    def admit(self, entry: Entry) -> Admission:
        """Puts a journalled job into the queue by the rules of its priority."""
        speaking = self.current.job.priority if self.current else None
        waiting = [priority for priority, entries in self._waiting.items() if entries]
        arrival = policy.arrive(entry.job.priority, speaking, waiting, self.paused)
        if not arrival.admitted:
            return Admission([entry], None)
        dropped = self._take(lambda other: other.job.priority in arrival.dropped and not other.postponed)
        self._insert(entry)
        return Admission(dropped, arrival.interrupt)

    def restore(self, entries: Sequence[Entry]) -> None:
        """Takes over what an earlier run accepted; no rule is applied twice."""
        for entry in entries:
            self._insert(entry)

    def postpone(self, entry: Entry) -> None:
        """Puts the interrupted job back at its place in the order of acceptance."""
        self._insert(entry._replace(postponed=True))

    def cancel(self, job_id: str) -> list[Entry]:
        return self._take(lambda entry: entry.job.id == job_id)

    def clear(self) -> list[Entry]:
        return self._take(lambda entry: True)

    def take_stale(self) -> list[Entry]:
        """Removes and returns what has waited too long."""
        now = self._clock()
        return self._take(lambda entry: policy.is_stale(entry, now))

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False
        self._changed.set()

    def restrain(self, restraint: Restraint) -> None:
        """Lets only those begin for which `restraint` has no reason against it; they still grow stale."""
        self._restraint = restraint

    def look_again(self) -> None:
        """What restrains jobs may have changed."""
        self._changed.set()

    def held_because(self, entry: Entry) -> AnnouncementError | None:
        """Why this job must not begin now; None when it may."""
        return self._restraint(entry)

    async def next(self) -> Entry:
        """Waits for the next job, makes it the current one and removes it from the waiting ones."""
        while True:
            self._changed.clear()
            now = self._clock()
            firsts = (
                next((entry for entry in entries if self._may_begin(entry, now)), None)
                for entries in self._waiting.values()
            )
            chosen = None if self.paused else policy.choose(filter(None, firsts), now)
            if chosen is not None:
                self._waiting[chosen.job.priority].remove(chosen)
                self.current = chosen
                return chosen
            await self._changed.wait()

    def done(self) -> None:
        """The current job has ended or was put back."""
        self.current = None

    def _may_begin(self, entry: Entry, now: Moment) -> bool:
        return not policy.is_stale(entry, now) and self.held_because(entry) is None

    def _insert(self, entry: Entry) -> None:
        bisect.insort(self._waiting[entry.job.priority], entry, key=lambda other: other.seq)
        self._changed.set()

    def _take(self, matches: Callable[[Entry], bool]) -> list[Entry]:
        taken: list[Entry] = []
        for priority, entries in self._waiting.items():
            hit = [entry for entry in entries if matches(entry)]
            if hit:
                taken += hit
                self._waiting[priority] = [entry for entry in entries if not matches(entry)]
        return taken
