"""Looks at the sensors again and again, and has engines and queue do what heat and memory allow."""

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path

from daemon.config import Watch
from daemon.errors import AnnouncementError, Code
from daemon.jobs.job import Job, Priority, Utterance
from daemon.jobs.journal import Entry
from daemon.jobs.queue import JobQueue
from daemon.synthesis.engines import Engines
from daemon.synthesis.supervisor import Supervisor
from daemon.tasks import Lookout
from daemon.watch import policy, sensors
from daemon.watch.metrics import Metrics
from daemon.watch.policy import MIB, Level, Throttle
from daemon.watch.sensors import Reading

log = logging.getLogger(__name__)

SENSORS_DEADLINE_S = 10.0  # a silent firmware takes two or three


class Guard:
    """The device's throttle: what the sensors said last, and the level that follows from it."""

    def __init__(
        self,
        limits: Watch,
        max_worker_mib: int,
        engines: Engines,
        queue: JobQueue,
        is_cached: Callable[[Job], bool],
        metrics: Metrics,
        changed: Callable[[], None],
    ) -> None:
        """
        Args:
            max_worker_mib: a worker beyond it is replaced; 0: as its engine needs.
            is_cached: whether a job needs no engine.
            changed: called after every change of the level.
        """
        self._limits = limits
        self._max_worker_bytes = max_worker_mib * MIB
        self._engines = engines
        self._queue = queue
        self._is_cached = is_cached
        self._metrics = metrics
        self._changed = changed
        self._unloading: dict[tuple[Supervisor, bool], asyncio.Task[None]] = {}
        self._sensors = Lookout(lambda: sensors.read(Path(limits.root), limits.sensor))
        self.problem: str | None = None  # why the reading is an old one
        self.reading = Reading()
        self.throttle = Throttle()

    async def run(self) -> None:
        """Looks again and again, until cancelled; the first look is the start's."""
        while True:
            await asyncio.sleep(self._limits.interval_s)
            await self.look()

    async def look(self) -> None:
        """Reads the sensors once, and acts on what they say."""
        try:
            self.reading = await self._sensors.look(SENSORS_DEADLINE_S)
        except TimeoutError:  # what they said last counts on
            if self.problem is None:
                self.problem = "the sensors do not answer"
                log.warning("%s", self.problem)
            return
        self.problem = None
        before = self.throttle
        self.throttle = policy.step(before, self.reading, self._limits, time.monotonic())
        if (self.throttle.level, self.throttle.reason) != (before.level, before.reason):
            self._enter(before.level)
        self._make_room()
        self._queue.look_again()

    def _enter(self, before: Level) -> None:
        level, reason = self.throttle.level, self.throttle.reason
        if level == Level.NORMAL:
            log.info("throttle: normal again, after %s", before.label)
        else:
            log.warning("throttle: %s, since %s", level.label, reason)
        self._engines.throttle(level, reason)
        self._metrics.throttle(level.label, time.monotonic())
        self._changed()

    def must_wait(self, entry: Entry) -> AnnouncementError | None:
        """Why a job must not begin now (too hot for it, or no engine can speak); None when it may."""
        job = entry.job
        held = self.refusal(job, important=job.priority == Priority.IMPORTANT)
        return None if held is None or self._is_cached(job) else held

    def refusal(self, utterance: Utterance, important: bool = False) -> AnnouncementError | None:
        """Why no engine must speak this now; None when one may."""
        level = self.throttle.level
        if level == Level.CRITICAL and not important:
            return AnnouncementError(Code.THROTTLED, f"the device is {level.label}: {self.throttle.reason}")
        refusal = self._engines.refusal_of_all(utterance.voice, utterance.language, utterance.text)
        if refusal is not None:
            return AnnouncementError(Code.ENGINE_FAILED, f"the speech engine cannot be had: {refusal}")
        return None

    def _make_room(self) -> None:
        """Ends workers that must rest, that grew too large, or whose memory is needed at any price."""
        out_of_memory = self.throttle.memory.level == Level.CRITICAL
        resting = self._engines.resting()
        for supervisor in self._engines.supervisors if out_of_memory else resting:
            self._unload(supervisor, wait_for_job=not (out_of_memory and supervisor in resting))
        for supervisor in self._engines.overgrown(self._max_worker_bytes):
            if (supervisor, True) not in self._unloading:
                log.warning(
                    "the %s worker has grown to %d MiB and is replaced",
                    supervisor.engine,
                    supervisor.rss_bytes // MIB,
                )
                self._metrics.recycled()
            self._unload(supervisor, wait_for_job=True)

    def _unload(self, supervisor: Supervisor, wait_for_job: bool) -> None:
        """Ends a worker, beside the looking; once at a time."""
        if supervisor.pid is None or (supervisor, wait_for_job) in self._unloading:
            return
        task = asyncio.create_task(supervisor.unload(wait_for_job))
        self._unloading[supervisor, wait_for_job] = task
        task.add_done_callback(lambda _: self._unloading.pop((supervisor, wait_for_job), None))


def spare_memory_bytes(limits: Watch) -> int | None:
    """What an engine may take now without making the device short of memory; None: unknown."""
    available_bytes = sensors.memory_available_bytes(Path(limits.root))
    return None if available_bytes is None else available_bytes - limits.memory.warm_mib * MIB
