"""Speaks one job after the other: from the queue to the loudspeaker, the WAV file and the result."""

import asyncio
import logging
from collections.abc import Callable
from typing import Literal, NamedTuple

from daemon.errors import AnnouncementError, Code
from daemon.jobs.announcer import Announcer
from daemon.jobs.journal import Entry, JournalError
from daemon.jobs.ledger import Ledger
from daemon.jobs.queue import JobQueue
from daemon.mqtt.messages import Event, Result
from daemon.mqtt.results import Results
from daemon.tasks import to_its_end

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 25  # begun so often without an end, it is the job that takes the daemon down
STALE_CHECK_S = 0.5
STOP_DEADLINE_S = 3.0

Cut = Literal["postpone", "cancel", "stop", "leave"]


class Running(NamedTuple):
    entry: Entry
    task: "asyncio.Task[Result]"


class Pipeline:
    """The one consumer of the queue."""

    def __init__(
        self,
        queue: JobQueue,
        ledger: Ledger,
        results: Results,
        announcer: Announcer,
        changed: Callable[[], None],
    ) -> None:
        self._queue = queue
        self._ledger = ledger
        self._results = results
        self._announcer = announcer
        self._changed = changed
        self._running: Running | None = None
        self._cut: Cut | None = None

    async def run(self) -> None:
        """Works until cancelled; a job cut off by that stays in the journal for the next start."""
        while True:
            entry = await self._queue.next()
            self._cut = None
            task = asyncio.create_task(self._announce(entry))
            self._running = Running(entry, task)
            self._changed()
            ending = asyncio.create_task(self._end(entry, task))
            try:
                await asyncio.shield(ending)
            except asyncio.CancelledError:
                self.interrupt(entry, "leave")
                await asyncio.wait({ending}, timeout=STOP_DEADLINE_S)
                raise

    async def _end(self, entry: Entry, task: "asyncio.Task[Result]") -> None:
        """Waits for a job's end and tells of it; a task of its own, since what was heard must be written."""
        try:
            await asyncio.wait({task})
            self._running = None
            await self._conclude(entry, task)
        finally:
            self._queue.done()
            self._changed()

    async def expire(self) -> None:
        """Ends what waited too long, soon after it did. Runs until cancelled."""
        while True:
            await asyncio.sleep(STALE_CHECK_S)
            stale = self._queue.take_stale()
            if stale:
                await self._results.end(stale, Event.EXPIRED, self._late)
                self._changed()

    def interrupt(self, entry: Entry | None, cut: Cut) -> None:
        """Cuts off `entry` if it is being spoken; one on its way out is left alone.

        What was only to be postponed can still be cancelled while it fades out.
        """
        running = self._running
        if running is None or running.entry is not entry:
            return
        if self._cut is None:
            running.task.cancel()
        if self._cut is None or self._cut == "postpone":
            self._cut = cut

    def _late(self, entry: Entry) -> str | AnnouncementError:
        sentence = f"not begun within {entry.job.ttl_s:g} s"
        held = self._queue.held_because(entry)
        return sentence if held is None else AnnouncementError(held.code, f"{sentence}: {held.message}")

    async def _conclude(self, entry: Entry, task: "asyncio.Task[Result]") -> None:
        """Turns how a job's task ended into its final result, or puts the job back."""
        if task.cancelled():
            if self._cut == "leave":
                return
            if self._cut == "postpone":
                log.info("[%s] postponed", entry.job.id)
                self._queue.postpone(entry)
                return
            why = "stopped" if self._cut == "stop" else "something newer took its place"
            result = self._results.describe(entry.job, Event.CANCELLED, message=why)
        elif (error := task.exception()) is None:
            result = task.result()
        elif isinstance(error, AnnouncementError):
            result = self._results.describe(entry.job, Event.FAILED, error)
        else:  # the one catch-all of this task: a fault of ours costs one job
            log.error("[%s] failed", entry.job.id, exc_info=error)
            fault = AnnouncementError(Code.ENGINE_FAILED, f"an internal fault: {type(error).__name__}")
            result = self._results.describe(entry.job, Event.FAILED, fault)
        await self._results.final([(entry, result)])

    async def _announce(self, entry: Entry) -> Result:
        """Counts the attempt and makes the job. Raises `AnnouncementError` when there is nothing to show."""
        if entry.attempts >= MAX_ATTEMPTS:
            raise AnnouncementError(
                Code.ENGINE_FAILED, f"begun {entry.attempts} times without an end; given up"
            )
        counted = asyncio.create_task(self._count_attempt(entry))  # the disk works while the voice begins
        try:
            return await self._announcer.make(entry)
        finally:
            await to_its_end(counted)

    async def _count_attempt(self, entry: Entry) -> None:
        try:
            await self._ledger.begin(entry.seq)
        except JournalError as error:  # it can still be spoken
            log.warning("[%s] %s", entry.job.id, error)
