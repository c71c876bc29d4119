"""Hands out the speech of one job once, although it may take two attempts to make it."""

import asyncio
import logging

import msgspec

from daemon.synthesis.protocol import Speech

log = logging.getLogger(__name__)


class Delivery:
    """The way of one job's pieces to their listener.

    Unbounded, so that the worker is free again as soon as it has spoken, however slowly the listener plays:
    the longest text makes some 25 MiB.
    """

    def __init__(self) -> None:
        self._pieces: asyncio.Queue[Speech | None] = asyncio.Queue()
        self._delivered_bytes = 0
        self._skip_bytes = 0

    def begin_attempt(self) -> None:
        """From here on the job is spoken from its start: what was handed out before is skipped."""
        self._skip_bytes = self._delivered_bytes

    def take(self, piece: Speech) -> None:
        """Puts down one piece, or what is new of it."""
        if self._skip_bytes:
            skipped_bytes = min(self._skip_bytes, len(piece.pcm))
            self._skip_bytes -= skipped_bytes
            if skipped_bytes == len(piece.pcm):
                return
            piece = msgspec.structs.replace(piece, pcm=piece.pcm[skipped_bytes:])
        self._delivered_bytes += len(piece.pcm)
        self._pieces.put_nowait(piece)

    def end_attempt(self) -> None:
        """The job is spoken."""
        if self._skip_bytes:
            log.warning("the second attempt was %d bytes shorter than the first", self._skip_bytes)

    def close(self) -> None:
        """No more pieces come."""
        self._pieces.put_nowait(None)

    async def next(self) -> Speech | None:
        """The next piece, or None after the last one."""
        return await self._pieces.get()
