"""HTTP/1.1 with a deadline for the head of each request, which uvicorn has not: silence holds no place."""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_DEADLINE_S = 10.0


class PunctualProtocol(H11Protocol):
    """One connection."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        super().connection_made(transport)
        self._deadline = self.loop.call_later(HEAD_DEADLINE_S, transport.abort)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._forget()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_DEADLINE_S, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
