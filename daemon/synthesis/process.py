"""One running worker process as the daemon sees it: asked to speak, to stop, and whether it is there."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Sequence

import msgspec

from daemon.children.child import Child, ChildError, ChildStopped, ChildTimeout
from daemon.synthesis.engine import EngineError, SynthesisRequest
from daemon.synthesis.protocol import (
    FROM_WORKER,
    Cancel,
    Failed,
    Ping,
    Pong,
    Speech,
    Spoken,
    Synthesize,
    WorkerMessage,
    WorkerReady,
)

log = logging.getLogger(__name__)

HEARTBEATS_PER_SILENCE = 3  # pings within the silence that ends a worker: one lost answer is forgiven
NO_JOB = 0

JobMessage = Speech | Spoken | Failed


class WorkerProcess:
    """A worker from its start to its end; one that failed once is never used again.

    All methods that talk to the worker raise `ChildError` once it is lost: dead, silent, or talking nonsense.
    """

    def __init__(self, module: str, arguments: Sequence[str]) -> None:
        self._child: Child[WorkerMessage] = Child("worker", module, arguments, FROM_WORKER)
        self._pump: asyncio.Task[None] | None = None
        self._lost: ChildError | None = None
        self._job = NO_JOB
        self._inbox: asyncio.Queue[JobMessage | ChildError] = asyncio.Queue()
        self._pings: dict[int, asyncio.Future[ChildError | None]] = {}
        self._token = 0
        self._heard_at_s = 0.0  # on the event loop's clock

    @property
    def usable(self) -> bool:
        return self._pump is not None and self._lost is None and self._child.alive

    @property
    def pid(self) -> int | None:
        return self._child.pid

    @property
    def rss_bytes(self) -> int:
        return self._child.rss_bytes

    async def start(self, deadline_s: float) -> WorkerReady:
        """Starts the process and loads its engine. Raises `ChildError`; then nothing is left running."""
        ready = await self._child.start(deadline_s)
        try:
            about = msgspec.convert(ready.details, WorkerReady)
        except msgspec.ValidationError as error:
            await self._child.kill()
            raise ChildError(f"the worker does not say what it is: {error}") from error
        self._pump = asyncio.create_task(self._receive_all())
        return about

    async def speak(
        self,
        job: int,
        request: SynthesisRequest,
        job_s: float,
        silence_s: float,
        deliver: Callable[[Speech], None],
        gentle: bool = False,
    ) -> None:
        """Has one request spoken; `deliver` takes the pieces as they come.

        A worker that is silent for `silence_s` is lost: pings make sure that a healthy one is not. A healthy
        one whose engine hangs is found by `job_s`.

        Raises:
            EngineError: the engine cannot say this; the worker is well.
            ChildTimeout: the job took longer than `job_s`, or the worker was silent for `silence_s`.
            ChildError: the worker broke.
        """
        self._check()
        self._job = job
        self._inbox = asyncio.Queue()
        self._heard_at_s = _now_s()
        ends_at_s = self._heard_at_s + job_s
        await self._child.send(Synthesize(job, request, gentle))
        while True:
            match await self._next(ends_at_s, silence_s):
                case Speech() as piece:
                    deliver(piece)
                case Spoken():
                    self._job = NO_JOB
                    return
                case Failed(message=message, broken=True):
                    raise ChildError(message)
                case Failed(message=message):
                    self._job = NO_JOB
                    raise EngineError(message)

    async def cancel(self, deadline_s: float) -> None:
        """Ends the running job and waits for the worker to be idle. Raises `ChildError`, `ChildTimeout`."""
        self._check()
        await self._child.send(Cancel(self._job), deadline_s)
        try:
            async with asyncio.timeout(deadline_s):
                while isinstance(last := await self._received(), Speech):
                    pass
        except TimeoutError as error:
            raise ChildTimeout(f"the worker did not cancel its job within {deadline_s:g} s") from error
        if isinstance(last, Failed) and last.broken:
            raise ChildError(last.message)
        self._job = NO_JOB

    async def ping(self, deadline_s: float) -> float:
        """Round trip in seconds, also while a job is worked on. Raises `ChildError`; then it is lost."""
        self._check()
        self._token = token = self._token + 1
        answer = self._pings[token] = asyncio.get_running_loop().create_future()
        began_s = time.perf_counter()
        try:
            async with asyncio.timeout(deadline_s):
                await self._child.send(Ping(token), deadline_s)
                lost = await answer
        except (TimeoutError, ChildTimeout) as error:
            silent = ChildTimeout(f"the worker did not answer a ping within {deadline_s:g} s")
            await self.kill(silent)
            raise silent from error
        finally:
            del self._pings[token]
        if lost is not None:
            raise lost
        return time.perf_counter() - began_s

    async def kill(self, reason: ChildError | None = None) -> None:
        """Ends the process now; a running job ends with `reason`."""
        self._lose(reason or ChildError("the worker was stopped"))
        await self._child.kill()
        await self._end_pump()

    async def stop(self) -> None:
        """Ends an idle worker: it leaves as soon as its stdin ends."""
        self._lose(ChildStopped("the worker was stopped"))
        await self._child.stop()
        await self._end_pump()

    async def _receive_all(self) -> None:
        """The pump: takes every message, so that the worker never waits for a slow listener."""
        try:
            while True:
                message = await self._child.receive(None)
                self._heard_at_s = _now_s()
                match message:
                    case Pong():
                        waiting = self._pings.get(message.token)
                        if waiting is not None and not waiting.done():
                            waiting.set_result(None)
                    case Speech() | Spoken() | Failed():
                        if message.job == self._job:  # else: a late word of a job that nobody waits for
                            self._inbox.put_nowait(message)
                    case _:
                        raise ChildError(
                            f"the worker sent {type(message).__name__} in the middle of its work"
                        )
        except ChildError as error:
            if self._lost is None and self._job == NO_JOB:  # else the job tells of it
                log.warning("%s while it was idle", error)
            self._lose(error)
            await self._child.kill()
        except Exception as error:
            log.exception("cannot hear the worker any more")
            self._lose(ChildError(f"cannot hear the worker any more: {error}"))
            await self._child.kill()

    async def _next(self, ends_at_s: float, silence_s: float) -> JobMessage:
        while True:
            silent_at_s = self._heard_at_s + silence_s
            beat_at_s = _now_s() + silence_s / HEARTBEATS_PER_SILENCE
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(min(ends_at_s, silent_at_s, beat_at_s)):
                    return await self._received()
            if _now_s() >= ends_at_s:
                raise ChildTimeout("the engine did not finish in time")
            if _now_s() >= self._heard_at_s + silence_s:
                raise ChildTimeout(f"the worker was silent for {silence_s:g} s")
            await self._child.send(Ping(0), silence_s)  # nobody waits for this Pong: it is a sign of life

    async def _received(self) -> JobMessage:
        message = await self._inbox.get()
        if isinstance(message, ChildError):
            raise message
        return message

    def _check(self) -> None:
        if self._lost is not None:
            raise self._lost

    def _lose(self, reason: ChildError) -> None:
        if self._lost is not None:
            return
        self._lost = reason
        self._inbox.put_nowait(reason)
        for waiting in self._pings.values():
            if not waiting.done():
                waiting.set_result(reason)

    async def _end_pump(self) -> None:
        pump, self._pump = self._pump, None
        if pump is not None:
            await asyncio.wait({pump})


def _now_s() -> float:
    return asyncio.get_running_loop().time()
