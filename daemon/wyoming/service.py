"""The Wyoming server as the configuration wants it; what it needs is imported only where it is wanted."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from daemon.config import Config
from daemon.errors import AnnouncementError
from daemon.jobs.job import Utterance
from daemon.jobs.studio import Studio
from daemon.mqtt import configured
from daemon.storage.phrases import PhraseCache
from daemon.storage.settings import Settings
from daemon.synthesis.engines import Engines

if TYPE_CHECKING:
    from daemon.wyoming.server import Server


class WyomingService:
    """A server where `wyoming.enabled` is set, else nothing."""

    def __init__(
        self,
        config: Config,
        engines: Engines,
        cache: PhraseCache,
        settings: Callable[[], Settings],
        refusal: Callable[[Utterance], AnnouncementError | None],
    ) -> None:
        """`refusal` tells why no engine must speak an utterance now."""
        self._config = config
        self._engines = engines
        self._cache = cache
        self._settings = settings
        self._refusal = refusal
        self._server: Server | None = None

    async def start(self) -> None:
        """Raises `WyomingError`."""
        if not self._config.wyoming.enabled:
            return
        from daemon.wyoming.server import Server

        self._server = Server(
            self._config.wyoming,
            configured.node(self._config),
            Studio(self._engines, self._cache, self._refusal),
            lambda: configured.defaults(self._config, self._settings(), self._engines.voices),
            lambda: self._engines.voices,
        )
        await self._server.start()

    async def stop(self) -> None:
        if self._server is not None:
            await self._server.stop()
