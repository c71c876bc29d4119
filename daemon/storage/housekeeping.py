"""Keeps the daemon's folders within their limits and the disk from filling up, for as long as it runs."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from daemon.config import Config, Store
from daemon.jobs.journal import JournalError
from daemon.jobs.ledger import Ledger
from daemon.jobs.queue import JobQueue
from daemon.storage.disk import MIB
from daemon.storage.outputs import Outputs
from daemon.storage.phrases import PhraseCache
from daemon.storage.prune import Failure, prune, shortfall_bytes
from daemon.tasks import Lookout
from daemon.watch.sensors import disk_free_bytes

log = logging.getLogger(__name__)

LOOK_INTERVAL_S = 5.0
PRUNE_INTERVAL_S = 60.0
DISK_DEADLINE_S = 10.0
PRUNE_DEADLINE_S = 120.0  # thousands of files on a slow card
SHORT_INTERVAL_S = 15.0  # while the disk is nearly full


class Housekeeping:
    """What is on the disk, and the loop that looks after it."""

    def __init__(
        self,
        config: Config,
        outputs: Outputs,
        cache: PhraseCache,
        ledger: Ledger,
        queue: JobQueue,
        waiting_phrases: Callable[[], Iterable[Path]],
    ) -> None:
        """`waiting_phrases`: the cached phrases of the jobs that wait; they are not pruned."""
        self._config = config
        self._outputs = outputs
        self._cache = cache
        self._ledger = ledger
        self._queue = queue
        self._waiting_phrases = waiting_phrases
        self._disk = Lookout(disk_free_bytes)
        self._sweeper = Lookout(prune)
        self._late = False
        self._pruned_at_s = float("-inf")
        self._failures: dict[Path, list[Failure]] = {}  # what could not be pruned, by folder
        self.outputs_bytes = 0
        self.disk_free_bytes: int | None = None

    @property
    def problem(self) -> str | None:
        """What is wrong with the disk, as a sentence; None when nothing."""
        if self._late:
            return "the disk does not answer"
        limits, free = self._config.watch.disk, self.disk_free_bytes
        if free is None or free >= limits.prune_mib * MIB:
            return None
        if free < limits.refuse_mib * MIB:
            wanted_mib, what = limits.refuse_mib, "no new files are written"
        else:
            wanted_mib, what = limits.prune_mib, "old files go early"
        return f"less than {wanted_mib} MiB of the disk are free at {self._outputs.folder}: {what}"

    async def run(self) -> None:
        """Looks again and again, until cancelled; the first look is the start's."""
        while True:
            await asyncio.sleep(LOOK_INTERVAL_S)
            self._queue.restore(await self._ledger.settle())
            await self.look()

    async def look(self) -> None:
        """Measures the disk, and prunes when it is time or when space is short."""
        before = self.problem
        try:
            await self._measure()
            short = shortfall_bytes(self.disk_free_bytes, self._config.watch.disk.prune_mib)
            if time.monotonic() - self._pruned_at_s >= (SHORT_INTERVAL_S if short else PRUNE_INTERVAL_S):
                await self._prune()
                await self._measure()
                self._pruned_at_s = time.monotonic()
            self._late = False
        except TimeoutError:
            self._late = True
        if self.problem is not None and before is None:
            log.warning("%s", self.problem)
        elif self.problem is None and before is not None:
            log.info("there is room on the disk again")

    async def _measure(self) -> None:
        self.disk_free_bytes = await self._disk.look(DISK_DEADLINE_S, self._outputs.folder)

    async def _prune(self) -> None:
        """Outputs first: phrases are what spares work."""
        limits = self._config
        named = self._outputs.recent(limits.outputs.keep_recent_s)
        self.outputs_bytes = await self._prune_folder(self._outputs.folder, limits.outputs, named)
        spoken = self._cache.held | set(self._waiting_phrases())
        await self._prune_folder(self._cache.folder, limits.phrases, spoken)
        try:
            await self._ledger.forget_old()
        except JournalError as error:
            log.debug("old records stay for now: %s", error)

    async def _prune_folder(self, folder: Path, limits: Store, protected: set[Path]) -> int:
        free_bytes = await self._disk.look(DISK_DEADLINE_S, folder)
        pruned = await self._sweeper.look(
            PRUNE_DEADLINE_S,
            folder,
            limits,
            protected=protected,
            short_bytes=shortfall_bytes(free_bytes, self._config.watch.disk.prune_mib),
            known=self._failures.get(folder, []),
        )
        self._failures[folder] = pruned.failures
        return pruned.kept_bytes
