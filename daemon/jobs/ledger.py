"""The journal as the event loop uses it: one thread, one call after the other."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from daemon.clock import Clock
from daemon.jobs.fallback import FallbackJournal
from daemon.jobs.job import Job
from daemon.jobs.journal import Entry, Repeated
from daemon.mqtt.messages import Result

P = ParamSpec("P")
R = TypeVar("R")


class Ledger:
    """Asynchronous front of a journal; each method raises what the journal's own does."""

    def __init__(self, journal: FallbackJournal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self._thread: ThreadPoolExecutor | None = None

    async def start(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")
        try:
            await self._call(self._journal.open)
        except BaseException:
            self._thread.shutdown()
            raise

    async def stop(self) -> None:
        if self._thread is not None:
            await self._call(self._journal.close, self._clock())
            self._thread.shutdown()
            self._thread = None

    async def accept(self, jobs: Sequence[tuple[Job, bool]]) -> list[Entry | Repeated]:
        return await self._call(self._journal.accept, jobs)

    async def withdraw(self, seqs: Sequence[int]) -> None:
        await self._call(self._journal.withdraw, seqs)

    async def begin(self, seq: int) -> None:
        await self._call(self._journal.begin, seq)

    async def finish(self, results: Sequence[tuple[int, Result]]) -> None:
        await self._call(self._journal.finish, results, self._clock())

    async def settle(self) -> list[Entry]:
        """Tries once more to write what a full disk has not taken; the open jobs that it kept unread."""
        return await self._call(self._journal.settle, self._clock())

    @property
    def problem(self) -> str | None:
        """Why the journal cannot be written; None while it can."""
        return self._journal.problem

    async def published(self, seqs: Sequence[int]) -> None:
        await self._call(self._journal.published, seqs)

    async def open_jobs(self) -> list[Entry]:
        return await self._call(self._journal.open_jobs)

    async def untold(self) -> list[tuple[int, Job, Result]]:
        return await self._call(self._journal.untold)

    async def last_finished(self) -> Job | None:
        return await self._call(self._journal.last_finished)

    async def recent(self, limit: int) -> list[Result]:
        return await self._call(self._journal.recent, limit)

    async def forget_old(self) -> int:
        return await self._call(self._journal.forget_old, self._clock())

    async def _call(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, lambda: function(*args, **kwargs))
