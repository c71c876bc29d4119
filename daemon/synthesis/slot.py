"""The place of the one worker: filled when it is needed, and refilled as fast as its failures allow."""

import asyncio
import logging
import time

from daemon.children.child import ChildError
from daemon.errors import AnnouncementError, Code
from daemon.synthesis.backoff import Backoff, failed_for_s, remembered, start_delay_s
from daemon.synthesis.process import WorkerProcess
from daemon.synthesis.protocol import WorkerReady

log = logging.getLogger(__name__)


class EngineUnavailable(AnnouncementError):
    """The worker cannot be had, whatever the text: another engine may speak in its place."""


class WorkerSlot:
    """Holds at most one worker process; whoever fills or empties it must be alone with it."""

    def __init__(self, module: str, arguments: tuple[str, ...], backoff: Backoff) -> None:
        self._module = module
        self._arguments = arguments
        self._backoff = backoff
        self._worker: WorkerProcess | None = None
        self._failures: tuple[float, ...] = ()  # since the last success, on the monotonic clock
        self._last_failure = ""
        self.about: WorkerReady | None = None  # what the engine last said of itself
        self.restarts = 0

    @property
    def worker(self) -> WorkerProcess | None:
        """The worker, where one is loaded and well."""
        return self._worker if self._worker is not None and self._worker.usable else None

    @property
    def rss_bytes(self) -> int:
        return self._worker.rss_bytes if self._worker is not None else 0

    @property
    def pid(self) -> int | None:
        return self._worker.pid if self._worker is not None else None

    @property
    def failed_for_s(self) -> float:
        """Seconds for which the engine still counts as failed; 0 when it may be started."""
        return failed_for_s(self._failures, time.monotonic(), self._backoff)

    async def fill(self, deadline_s: float) -> WorkerProcess:
        """The worker, started where none is usable.

        Raises:
            EngineUnavailable: the engine failed too often and is cooling down.
            ChildError: it does not start.
        """
        if self.worker is not None:
            return self.worker
        if (wait_s := self.failed_for_s) > 0:
            raise EngineUnavailable(
                Code.ENGINE_FAILED,
                f"the speech engine failed {len(self._failures)} times in a row and is tried again in "
                f"{wait_s:.0f} s; most recently: {self._last_failure}",
            )
        await asyncio.sleep(start_delay_s(self._failures, time.monotonic(), self._backoff))
        if self._worker is not None:
            self.restarts += 1
            await self._worker.kill()
        self._worker = WorkerProcess(self._module, self._arguments)
        self.about = await self._worker.start(deadline_s)
        log.info("the %s engine, version %s, is ready", self.about.engine, self.about.version)
        return self._worker

    async def empty(self) -> None:
        """Ends the worker, if there is one; its memory returns."""
        if self._worker is not None:
            await self._worker.stop()
            self._worker = None

    def note_failure(self, error: ChildError) -> None:
        """Counts a start, a job or a ping that the worker failed."""
        self._failures = remembered(self._failures, time.monotonic(), self._backoff)
        self._last_failure = str(error)

    def note_success(self) -> None:
        """Forgets the failures."""
        self._failures = ()
