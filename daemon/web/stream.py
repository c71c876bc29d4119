"""Answers that are sent as they come into being."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractContextManager, aclosing, nullcontext

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from daemon.errors import AnnouncementError, CosyvoicedError
from daemon.web import refusals
from daemon.web.refusals import Refusal, WebCode

MAX_FIRST_DEADLINE_S = 120.0


class BrokenOff(CosyvoicedError):
    """An answer that had begun cannot be ended: the connection is cut, so that nobody takes it for whole."""


class Stream(Response):
    """Sends what a generator yields; it is closed when the client leaves.

    The status waits for the first piece: what goes wrong before it is a proper refusal.
    """

    def __init__(
        self,
        source: AsyncGenerator[bytes, None],
        media_type: str,
        headers: Mapping[str, str] | None = None,
        admission: AbstractContextManager[None] | None = None,
        first_deadline_s: float = MAX_FIRST_DEADLINE_S,
    ) -> None:
        """`admission` is held for as long as the answer takes; it may refuse."""
        self.status_code = 200
        self.media_type = media_type
        self.background = None
        self.body = b""
        self.init_headers({"Cache-Control": "no-store", "X-Accel-Buffering": "no", **(headers or {})})
        del self.headers["content-length"]
        self._source = source
        self._admission = admission or nullcontext()
        self._first_deadline_s = min(first_deadline_s, MAX_FIRST_DEADLINE_S)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises `Refusal` before it has begun, `BrokenOff` afterwards."""
        with self._admission:
            async with aclosing(self._source):
                sending = asyncio.create_task(self._send_all(send))
                leaving = asyncio.create_task(_until_gone(receive))
                try:
                    await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    sending.cancel()
                    leaving.cancel()
                    await asyncio.wait({sending, leaving})
                if not sending.cancelled():
                    sending.result()

    async def _send_all(self, send: Send) -> None:
        piece: bytes | None = await self._first()
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            while piece is not None:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
                piece = await anext(self._source, None)
        except AnnouncementError as error:
            raise BrokenOff(error.message) from error
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _first(self) -> bytes | None:
        try:
            async with asyncio.timeout(self._first_deadline_s):
                return await anext(self._source, None)
        except AnnouncementError as error:
            raise refusals.of(error) from error
        except TimeoutError as error:
            message = f"it could not begin within {self._first_deadline_s:.0f} s"
            raise Refusal(504, WebCode.EXPIRED, message) from error


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
