"""How the device is: `<n>/state`, and the lists for pickers."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable

import msgspec

from daemon import __version__, styles
from daemon.jobs.queue import JobQueue
from daemon.mqtt.link import Link
from daemon.mqtt.messages import State
from daemon.mqtt.results import Results
from daemon.mqtt.settings import LinkError
from daemon.mqtt.topics import Topics
from daemon.storage.housekeeping import Housekeeping
from daemon.synthesis.engine import VoiceInfo
from daemon.synthesis.engines import Engines
from daemon.watch.guard import Guard
from daemon.watch.metrics import Metrics

log = logging.getLogger(__name__)

LOOK_INTERVAL_S = 2.0
MIN_INTERVAL_S = 0.2  # a burst of changes is told once


class Status:
    """Publishes the state on every change and at a steady interval."""

    def __init__(
        self,
        link: Link,
        topics: Topics,
        queue: JobQueue,
        results: Results,
        engines: Engines,
        guard: Guard,
        housekeeping: Housekeeping,
        metrics: Metrics,
        problems: Callable[[], tuple[str, ...]],
        interval_s: float,
        witness: Callable[[State], None] = lambda state: None,
    ) -> None:
        """`witness` sees every state as it is told, whether the broker is there or not."""
        self._link = link
        self._topics = topics
        self._queue = queue
        self._results = results
        self._engines = engines
        self._guard = guard
        self._housekeeping = housekeeping
        self._metrics = metrics
        self._problems = problems
        self._interval_s = interval_s
        self._witness = witness
        self._started_s = time.monotonic()
        self._changed = asyncio.Event()
        self.stopping = False

    def changed(self) -> None:
        self._changed.set()

    async def run(self) -> None:
        """Publishes until cancelled."""
        while True:
            told = self._problems()
            self.publish()
            self._changed.clear()
            await asyncio.sleep(MIN_INTERVAL_S)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._interval_s):
                    await self._until_something_changes(told)

    async def _until_something_changes(self, told: tuple[str, ...]) -> None:
        """Problems come and go without a word; all else calls `changed`."""
        while not self._changed.is_set() and self._problems() == told:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_INTERVAL_S):
                    await self._changed.wait()

    def publish(self) -> None:
        state = self.state()
        self._witness(state)
        try:
            self._link.publish(self._topics.state, msgspec.json.encode(state), retain=True)
        except LinkError as error:
            log.debug("the state cannot be published: %s", error)

    def publish_lists(self, voices: list[VoiceInfo]) -> None:
        """Publishes the voices and styles that can be chosen."""
        self._link.publish(self._topics.voices, msgspec.json.encode(voices), retain=True)
        self._link.publish(self._topics.styles, msgspec.json.encode(styles.listed()), retain=True)

    def state(self) -> State:
        reading, throttle = self._guard.reading, self._guard.throttle
        current = self._queue.current
        return State(
            status=self._status(),
            queue_length=len(self._queue),
            speaking_id=current.job.id if current else None,
            engine=self._engines.preferred.engine,
            throttle=throttle.level.label,
            throttle_reason=throttle.reason,
            temperature_c=reading.temperature_c,
            undervoltage=reading.undervoltage,
            memory_available_bytes=reading.memory_available_bytes,
            memory_stall_percent=reading.memory_stall_percent,
            swap_free_bytes=reading.swap_free_bytes,
            disk_free_bytes=self._housekeeping.disk_free_bytes,
            worker_rss_bytes=self._engines.rss_bytes,
            outputs_bytes=self._housekeeping.outputs_bytes,
            uptime_s=round(time.monotonic() - self._started_s),
            version=__version__,
            problems=self._problems(),
            metrics=self._metrics.report(
                time.monotonic(),
                worker_restarts=self._engines.restarts,
                broker_connections=self._link.connections,
            ),
            last=self._results.last,
        )

    def line(self) -> str:
        """The state in a line, for `systemctl status`."""
        state = self.state()
        heat = "" if state.temperature_c is None else f", {state.temperature_c:.0f} °C"
        problems = f"; {'; '.join(state.problems)}" if state.problems else ""
        return (
            f"{state.status}, {state.queue_length} waiting, {state.engine}, {state.throttle}{heat}{problems}"
        )

    def _status(self) -> str:
        if self.stopping:
            return "stopping"
        if self._queue.paused:
            return "paused"
        return "speaking" if self._queue.current else "idle"
