"""The gateway as the configuration wants it; what it needs is imported only where it is wanted."""

from pathlib import Path
from typing import TYPE_CHECKING

from daemon import configfile
from daemon.config import Config
from daemon.web.parts import Parts

if TYPE_CHECKING:
    from daemon.web.server import Server


class WebService:
    """A server where `web.enabled` is set, else nothing."""

    def __init__(self, config: Config, state_dir: Path, parts: Parts) -> None:
        self._config = config
        self._state_dir = state_dir
        self._parts = parts
        self._server: Server | None = None

    async def start(self) -> None:
        """Raises `WebError`, and `ConfigError` when the token cannot be read."""
        if not self._config.web.enabled:
            return
        from daemon.web.gateway import gateway
        from daemon.web.server import Server

        app = gateway(self._config, self._state_dir, configfile.web_token(self._config), self._parts)
        self._server = Server(app, self._config.web.host, self._config.web.port)
        await self._server.start()

    async def stop(self) -> None:
        self._parts.feed.close()
        if self._server is not None:
            await self._server.stop()
