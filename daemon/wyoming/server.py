"""The Wyoming server: a TCP port whose clients have texts spoken."""

import asyncio
import logging
from collections.abc import Callable, Mapping

from daemon import wording
from daemon.config import Wyoming
from daemon.errors import AnnouncementError, Code, CosyvoicedError
from daemon.jobs.studio import Studio
from daemon.mqtt.embedded import is_loopback
from daemon.mqtt.intake import Defaults
from daemon.synthesis.engine import VoiceInfo
from daemon.tasks import Tasks
from daemon.wyoming.connection import Connection
from daemon.wyoming.events import MAX_LINE_BYTES

log = logging.getLogger(__name__)

MAX_CONNECTIONS = 16


class WyomingError(CosyvoicedError):
    """The server cannot listen."""


class Server:
    """Serves up to `MAX_CONNECTIONS` clients at a time."""

    def __init__(
        self,
        options: Wyoming,
        node: str,
        studio: Studio,
        defaults: Callable[[], Defaults],
        voices: Callable[[], Mapping[str, VoiceInfo]],
    ) -> None:
        """
        Args:
            node: the name by which zeroconf tells of it.
            defaults: of a request, as for an announcement.
        """
        self._options = options
        self._node = node
        self._studio = studio
        self._defaults = defaults
        self._voices = voices
        self._server: asyncio.Server | None = None
        self._clients = 0
        self._tasks = Tasks()

    async def start(self) -> None:
        """Raises `WyomingError`."""
        host, port = self._options.host, self._options.port
        try:
            self._server = await asyncio.start_server(self._welcome, host, port, limit=MAX_LINE_BYTES)
        except OSError as error:
            raise WyomingError(wording.cannot_listen("wyoming", host, port, error)) from error
        log.info("the Wyoming server listens at %s:%d", host, port)
        if not is_loopback(host):
            log.warning("wyoming.host is %s: anyone in this network can use the voices", host)
        if self._options.zeroconf:
            from daemon.wyoming.discovery import Discovery

            addresses = [str(listener.getsockname()[0]) for listener in self._server.sockets]
            self._tasks.spawn("zeroconf", Discovery(self._node, addresses, port).run())

    async def stop(self) -> None:
        """Takes no more clients, and leaves those that are there."""
        if self._server is not None:
            self._server.close()
        await self._tasks.stop()

    def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.spawn("a Wyoming client", self._serve(reader, writer))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(reader, writer, self._studio, self._defaults, self._voices)
        full = self._clients >= MAX_CONNECTIONS
        self._clients += 1
        try:
            if self._clients > 2 * MAX_CONNECTIONS:
                return
            if full:
                await connection.refuse(
                    AnnouncementError(Code.QUEUE_FULL, f"{MAX_CONNECTIONS} clients are connected already")
                )
            else:
                await connection.run()
        finally:
            self._clients -= 1
            writer.transport.abort()
