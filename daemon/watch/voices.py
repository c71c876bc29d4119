"""Voices that are added, changed or removed while the daemon runs need no restart."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from daemon.config import Config
from daemon.synthesis import engines
from daemon.synthesis.engines import Engines

INTERVAL_S = 5.0


class VoiceWatch:
    """Looks for the voices again and again, and tells when they have changed."""

    def __init__(self, config: Config, state_dir: Path, known: Engines, changed: Callable[[], None]) -> None:
        self._config = config
        self._state_dir = state_dir
        self._engines = known
        self._changed = changed

    async def run(self) -> None:
        """Looks until cancelled."""
        while True:
            await asyncio.sleep(INTERVAL_S)
            found = await asyncio.to_thread(engines.find, self._config, self._state_dir)
            if self._engines.renew(found):
                self._changed()
