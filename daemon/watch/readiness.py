"""The start: loads an engine, waits for the broker, and tells systemd when both are there."""

import asyncio
import logging

from daemon.errors import AnnouncementError
from daemon.mqtt.link import Link
from daemon.sd_notify import Notifier
from daemon.synthesis.engines import Engines

log = logging.getLogger(__name__)

RETRY_S = 15.0  # an engine that cannot be loaded now
TELL_INTERVAL_S = 1.0
EXTENSION_S = 60.0  # more than from one telling to the next, in case the machine is busy


class Readiness:
    """Up means: messages come in, and an engine can speak; the journal is open before either begins."""

    def __init__(self, notifier: Notifier, engines: Engines, link: Link, warm_start: bool) -> None:
        """`warm_start`: an engine is loaded at the start; else the first message loads it."""
        self._notifier = notifier
        self._engines = engines
        self._link = link
        self._warm_start = warm_start
        self.is_up = False

    async def load_engine(self) -> None:
        """Loads an engine, and tries again until one is loaded."""
        while self._warm_start and not self._engines.is_loaded:
            try:
                await self._engines.warm()
            except AnnouncementError as error:
                log.warning("no engine can be loaded now: %s", error)
                await asyncio.sleep(RETRY_S)

    async def tell(self) -> None:
        """Tells systemd what is still missing, then that the daemon is up."""
        while missing := self._missing():
            self._notifier.extend_start(EXTENSION_S)
            self._notifier.status(f"starting: {'; '.join(missing)}")
            await asyncio.sleep(TELL_INTERVAL_S)
        self.is_up = True
        self._notifier.ready("ready")

    def _missing(self) -> list[str]:
        link = self._link.status
        missing = []
        if not link.connected:
            missing.append(link.last_error or f"connecting to the MQTT broker at {link.address}")
        if self._warm_start and not self._engines.is_loaded:
            missing.append("loading the speech engine")
        return missing
