"""The announcements that wait, and the one that is being spoken. In memory; the journal is behind it."""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from daemon.clock import Clock
from daemon.errors import AnnouncementError, Code
from daemon.jobs import policy
from daemon.jobs.job import Priority
from daemon.jobs.journal import Entry


class Admission(NamedTuple):
    """What the arrival of one job did to others; the caller reports it."""

    dropped: list[Entry]  # waiting jobs that end as cancelled, the new one itself included
    interrupt: policy.Interrupt | None


class JobQueue:
    """Bounded; ordered by priority and arrival; knows which job is current."""

    def __init__(self, limit: int, clock: Clock) -> None:
        self._limit = limit
        self._clock = clock
        self._waiting: list[Entry] = []
        self._changed = asyncio.Event()
        self.current: Entry | None = None
        self.paused = False

    def __len__(self) -> int:
        return len(self._waiting)

    def check_room(self, priority: Priority, more: int = 0) -> None:
        """Raises `AnnouncementError` (queue_full). Important ones have room of their own.

        Args:
            more: jobs that are about to be admitted besides.
        """
        important = priority == Priority.IMPORTANT
        same = sum((entry.job.priority == Priority.IMPORTANT) == important for entry in self._waiting)
        if same + more >= self._limit:
            raise AnnouncementError(Code.QUEUE_FULL, f"{self._limit} announcements are waiting already")

    def admit(self, entry: Entry) -> Admission:
        """Puts a journalled job into the queue by the rules of its priority."""
        arrival = policy.arrive(entry.job, self.current, self._waiting, self.paused)
        dropped = self._take(lambda other: other.seq in arrival.cancelled)
        if arrival.admitted:
            self._waiting.append(entry)
            self._changed.set()
        else:
            dropped.append(entry)
        return Admission(dropped, arrival.interrupt)

    def restore(self, entries: Sequence[Entry]) -> None:
        """Takes over what an earlier run accepted; no rule is applied twice."""
        self._waiting.extend(entries)
        self._changed.set()

    def postpone(self, entry: Entry) -> None:
        """Puts the interrupted job back; its place in the order of acceptance is kept."""
        self._waiting.append(entry._replace(postponed=True))
        self._changed.set()

    def cancel(self, job_id: str) -> list[Entry]:
        return self._take(lambda entry: entry.job.id == job_id)

    def clear(self) -> list[Entry]:
        return self._take(lambda entry: True)

    def take_stale(self) -> list[Entry]:
        """Removes and returns what has waited too long."""
        stale, self._waiting = policy.split_stale(self._waiting, self._clock())
        return stale

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False
        self._changed.set()

    async def next(self) -> Entry:
        """Waits for the next job, makes it the current one and removes it from the waiting ones."""
        while True:
            self._changed.clear()
            chosen = (
                None
                if self.paused
                else policy.choose(policy.split_stale(self._waiting, self._clock())[1], self._clock())
            )
            if chosen is not None:
                self._waiting.remove(chosen)
                self.current = chosen
                return chosen
            await self._changed.wait()

    def done(self) -> None:
        self.current = None

    def _take(self, matches: Callable[[Entry], bool]) -> list[Entry]:
        taken = [entry for entry in self._waiting if matches(entry)]
        if taken:
            self._waiting = [entry for entry in self._waiting if not matches(entry)]
        return taken
