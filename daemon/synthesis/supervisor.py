"""Has the worker speak one request after the other, whatever happens to the worker meanwhile.

Rules: one job at a time; a broken worker costs its job one retry; too many failures in a row, and requests
fail at once until the engine has cooled down; an idle worker is ended.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from daemon.children.child import ChildError, ChildRefused, ChildStopped, ChildTimeout
from daemon.errors import AnnouncementError, Code
from daemon.synthesis.backoff import Backoff
from daemon.synthesis.delivery import Delivery
from daemon.synthesis.engine import EngineError, EngineOptions, SynthesisRequest
from daemon.synthesis.process import WorkerProcess
from daemon.synthesis.protocol import Speech
from daemon.synthesis.slot import EngineUnavailable, WorkerSlot
from daemon.synthesis.timings import Timings
from daemon.tasks import handed_over

log = logging.getLogger(__name__)

GENTLE_PATIENCE = 4.0  # half of the threads at most twice as slow, and as much time again for rests
ATTEMPTS = 2  # one retry: a second failure is the text's or the machine's fault


class State(StrEnum):
    STOPPED = "stopped"
    LOADING = "loading"
    READY = "ready"
    BUSY = "busy"
    FAILED = "failed"


@dataclass
class _Work:
    """What has the worker now: a job, or the loading ahead of need."""

    task: "asyncio.Task[None]"
    speaking: bool = False
    interruption: AnnouncementError | None = None

    def interrupt(self, error: AnnouncementError) -> None:
        """Ends it from outside; whoever waits for it gets `error`."""
        self.interruption = error
        self.task.cancel()


class Supervisor:
    """The daemon's way to an engine; lives on one event loop."""

    def __init__(
        self,
        engine: str,
        options: EngineOptions,
        timings: Timings,
        backoff: Backoff | None = None,
        module: str = "daemon.synthesis.worker",
    ) -> None:
        self.engine = engine
        self._timings = timings
        self._slot = WorkerSlot(module, options.arguments(engine), backoff or Backoff())
        self._open = False
        self._lock = asyncio.Lock()  # held while the worker loads, speaks or is ended
        self._work: _Work | None = None
        self._job = 0
        self._idle_task: asyncio.Task[None] | None = None

    @property
    def state(self) -> State:
        if self._work is not None:
            return State.BUSY if self._work.speaking else State.LOADING
        if self._slot.failed_for_s > 0:
            return State.FAILED
        return State.READY if self._slot.worker is not None else State.STOPPED

    @property
    def failed_for_s(self) -> float:
        """Seconds until an engine that failed too often is tried again; 0 when it may be started."""
        return self._slot.failed_for_s

    @property
    def version(self) -> str | None:
        """The engine's version; None until it was loaded for the first time, kept after an unload."""
        return self._slot.about.version if self._slot.about is not None else None

    @property
    def sample_rate_hz(self) -> int | None:
        """The rate of all `Speech`; None until the engine was loaded for the first time."""
        return self._slot.about.sample_rate_hz if self._slot.about is not None else None

    @property
    def rss_bytes(self) -> int:
        """Resident memory of the worker now; 0 when none runs."""
        return self._slot.rss_bytes

    @property
    def pid(self) -> int | None:
        return self._slot.pid

    @property
    def restarts(self) -> int:
        """How many workers had to be replaced."""
        return self._slot.restarts

    async def start(self) -> None:
        """Opens for requests; the worker itself starts with the first one, or with `warm`."""
        self._open = True

    async def stop(self) -> None:
        """Ends the running job with `shutting_down`, and the worker."""
        self._open = False
        await self._end_worker(AnnouncementError(Code.SHUTTING_DOWN, "the daemon is shutting down"))
        if self._idle_task is not None:
            self._idle_task.cancel()
            await asyncio.wait({self._idle_task})

    async def warm(self) -> None:
        """Loads the engine ahead of need. Raises `AnnouncementError`."""
        await asyncio.create_task(self._hold(self._load))

    async def unload(self, wait_for_job: bool = True) -> None:
        """Ends the worker, for heat or memory; the next request starts it again.

        A running job is waited for, or else ends with `throttled`.
        """
        interruption = EngineUnavailable(Code.THROTTLED, f"the {self.engine} engine was unloaded")
        await self._end_worker(None if wait_for_job else interruption)

    async def ping(self, deadline_s: float = 5.0) -> float | None:
        """The worker's round trip in seconds; None when none runs. One that does not answer is killed.

        Raises:
            ChildError: the worker did not answer.
        """
        worker, idle = self._slot.worker, self._work is None
        if worker is None:
            return None
        try:
            return await worker.ping(deadline_s)
        except ChildStopped:
            return None
        except ChildError as error:
            if idle:  # else the job counts it
                self._slot.note_failure(error)
            raise

    def synthesize(self, request: SynthesisRequest, gentle: bool = False) -> AsyncGenerator[Speech, None]:
        """Yields the speech piece by piece, in order, none twice; closing the generator cancels the job.

        The worker does not wait for the listener: it is free for the next request as soon as it has spoken.

        Raises:
            EngineUnavailable: `engine_failed`, `engine_timeout` or `throttled`: another engine may do it.
            AnnouncementError: `engine_failed`, of the text, or `shutting_down`.
        """
        delivery = Delivery()
        return handed_over(
            lambda: self._hold(lambda work: self._speak(work, request, delivery, gentle)),
            delivery.close,
            delivery.next,
        )

    async def _hold(self, body: Callable[[_Work], Awaitable[None]]) -> None:
        """Runs `body` in this task, which alone has the worker meanwhile."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("only a task can hold the worker")
        async with self._lock:
            self._work = work = _Work(task)
            if self._idle_task is not None:
                self._idle_task.cancel()
            try:
                if not self._open:
                    raise AnnouncementError(Code.SHUTTING_DOWN, "the speech engine is not running")
                await body(work)
            except asyncio.CancelledError:
                if work.interruption is not None:
                    raise work.interruption from None
                raise
            finally:
                self._work = None
                if self._slot.worker is not None:
                    self._idle_task = asyncio.create_task(self._unload_when_idle())

    async def _load(self, work: _Work) -> None:
        try:
            await self._slot.fill(self._timings.ready_s)
        except ChildError as error:
            self._slot.note_failure(error)
            raise _final(error) from error

    async def _speak(self, work: _Work, request: SynthesisRequest, delivery: Delivery, gentle: bool) -> None:
        for attempt in range(1, ATTEMPTS + 1):
            delivery.begin_attempt()
            try:
                worker = await self._slot.fill(self._timings.ready_s)
                work.speaking = True
                await self._attempt(worker, request, delivery, gentle)
            except EngineError as error:
                raise AnnouncementError(Code.ENGINE_FAILED, str(error)) from error
            except ChildError as error:
                work.speaking = False
                self._slot.note_failure(error)
                if attempt == ATTEMPTS or isinstance(error, ChildRefused):
                    raise _final(error) from error
                log.warning("job %d is tried once more: %s", self._job, error)
            else:
                delivery.end_attempt()
                self._slot.note_success()
                return

    async def _attempt(
        self, worker: WorkerProcess, request: SynthesisRequest, delivery: Delivery, gentle: bool
    ) -> None:
        self._job += 1  # its own number for each attempt: a late frame of one is never taken for another's
        job_s = self._timings.job_s(request.text) * (GENTLE_PATIENCE if gentle else 1.0)
        try:
            await worker.speak(self._job, request, job_s, self._timings.silence_s, delivery.take, gentle)
        except ChildError:
            await worker.kill()
            raise
        except asyncio.CancelledError:
            await self._cancel(worker)
            raise

    async def _cancel(self, worker: WorkerProcess) -> None:
        try:
            await worker.cancel(self._timings.cancel_s)
        except ChildError as error:
            log.warning("job %d: %s, so the worker is ended", self._job, error)
            await worker.kill()
        except BaseException:
            await worker.kill()
            raise

    async def _end_worker(self, interruption: AnnouncementError | None) -> None:
        if self._work is not None and interruption is not None:
            self._work.interrupt(interruption)
        async with self._lock:
            await self._slot.empty()

    async def _unload_when_idle(self) -> None:
        await asyncio.sleep(self._timings.idle_s)
        log.info("the %s engine was idle for %g s and is unloaded", self.engine, self._timings.idle_s)
        await self._end_worker(None)


def _final(error: ChildError) -> EngineUnavailable:
    code = Code.ENGINE_TIMEOUT if isinstance(error, ChildTimeout) else Code.ENGINE_FAILED
    return EngineUnavailable(code, str(error))
