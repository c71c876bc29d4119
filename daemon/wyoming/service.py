"""The Wyoming server as the configuration wants it; what it needs is imported only where it is wanted."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from daemon.config import Config
from daemon.jobs.studio import Studio
from daemon.mqtt import configured
from daemon.mqtt.intake import Defaults
from daemon.synthesis.engines import Engines

if TYPE_CHECKING:
    from daemon.wyoming.server import Server


class WyomingService:
    """A server where `wyoming.enabled` is set, else nothing."""

    def __init__(
        self, config: Config, engines: Engines, studio: Studio, defaults: Callable[[], Defaults]
    ) -> None:
        self._config = config
        self._engines = engines
        self._studio = studio
        self._defaults = defaults
        self._server: Server | None = None

    async def start(self) -> None:
        """Raises `WyomingError`."""
        if not self._config.wyoming.enabled:
            return
        from daemon.wyoming.server import Server

        self._server = Server(
            self._config.wyoming,
            configured.node(self._config),
            self._studio,
            self._defaults,
            lambda: self._engines.voices,
        )
        await self._server.start()

    async def stop(self) -> None:
        if self._server is not None:
            await self._server.stop()
