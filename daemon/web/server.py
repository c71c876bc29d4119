"""The HTTP server, inside the daemon's own event loop."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Generator

import uvicorn
from starlette.types import ASGIApp

from daemon import wording
from daemon.errors import CosyvoicedError
from daemon.web.protocol import PunctualProtocol

log = logging.getLogger(__name__)

BACKLOG = 128
MAX_CONNECTIONS = 256
KEEP_ALIVE_S = 15
MAX_HEAD_BYTES = 16 * 1024
LEAVE_S = 3  # for requests that are being answered
STOP_DEADLINE_S = 6.0


class WebError(CosyvoicedError):
    """The server cannot listen."""


class _Server(uvicorn.Server):
    """Signals are the daemon's, not its."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


class Server:
    """Serves one application at one address."""

    def __init__(self, app: ASGIApp, host: str, port: int) -> None:
        self._app = app
        self._host = host
        self._port = port
        self._server: _Server | None = None
        self._serving: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Raises `WebError`."""
        listener = await self._listen()
        # It logs what a client does wrong, and every fault a second time.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        self._server = _Server(
            uvicorn.Config(
                self._app,
                http=PunctualProtocol,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                limit_concurrency=MAX_CONNECTIONS,
                timeout_keep_alive=KEEP_ALIVE_S,
                timeout_graceful_shutdown=LEAVE_S,
                h11_max_incomplete_event_size=MAX_HEAD_BYTES,
            )
        )
        self._serving = asyncio.create_task(self._server.serve(sockets=[listener]), name="web")
        log.info("the page is at http://%s:%d/", self._host, self._port)

    async def stop(self) -> None:
        """Takes no more requests, and leaves those that do not end in time."""
        if self._server is None or self._serving is None:
            return
        self._server.should_exit = True
        _, late = await asyncio.wait({self._serving}, timeout=STOP_DEADLINE_S)
        for task in late:
            task.cancel()
        await asyncio.gather(self._serving, return_exceptions=True)
        self._server = self._serving = None

    async def _listen(self) -> socket.socket:
        try:
            found = await asyncio.get_running_loop().getaddrinfo(
                self._host, self._port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )
            family, _, _, _, address = found[0]
            listener = socket.create_server((str(address[0]), self._port), family=family, backlog=BACKLOG)
        except OSError as error:
            raise WebError(wording.cannot_listen("web", self._host, self._port, error)) from error
        listener.setblocking(False)
        # Connections inherit it; asyncio does not set it here, and head and body are written one by one.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
