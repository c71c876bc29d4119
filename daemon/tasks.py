"""The daemon's concurrent tasks: a fault in one is logged and stops nothing else."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from typing import Any, Generic, ParamSpec, TypeVar

from daemon.errors import CosyvoicedError

log = logging.getLogger(__name__)

T = TypeVar("T")
P = ParamSpec("P")

RESTART_PAUSE_S = 1.0


class Tasks:
    """Everything that runs beside everything else."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def spawn(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Runs `work` once."""
        task = asyncio.create_task(_guarded(name, work), name=name)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def keep(self, name: str, loop: Callable[[], Awaitable[None]]) -> None:
        """Runs an endless loop, and starts it anew after a fault."""
        self.spawn(name, _forever(name, loop))

    async def stop(self) -> None:
        """Cancels all of them and waits for their ends."""
        tasks = list(self._running)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Lookout(Generic[P, T]):
    """A blocking look at something that may hang, in a thread; at most one look at a time."""

    def __init__(self, look: Callable[P, T]) -> None:
        self._look = look
        self._looking: asyncio.Task[T] | None = None

    async def look(self, deadline_s: float, *args: P.args, **kwargs: P.kwargs) -> T:
        """Raises `TimeoutError`: it takes longer; it goes on, and the next call waits for its end."""
        looking = self._looking or asyncio.create_task(asyncio.to_thread(self._look, *args, **kwargs))
        self._looking = looking
        await asyncio.wait({looking}, timeout=deadline_s)
        if not looking.done():
            raise TimeoutError
        self._looking = None
        return looking.result()


async def handed_over(
    make: Callable[[], Coroutine[Any, Any, None]],
    end: Callable[[], None],
    take: Callable[[], Awaitable[T | None]],
) -> AsyncGenerator[T, None]:
    """Yields what `make`, in a task of its own, puts down; closing the generator cancels that task.

    Args:
        end: called when `make` has ended, in whatever way: then `take` must give None.
        take: waits for the next piece.

    Raises:
        What `make` raises, after all that it had put down.
    """

    def close(done: asyncio.Task[None]) -> None:
        if not done.cancelled():
            done.exception()  # marked as seen, for a listener that has left
        end()

    making = asyncio.create_task(make())
    making.add_done_callback(close)
    try:
        while (piece := await take()) is not None:
            yield piece
        await making
    finally:
        making.cancel()
        await asyncio.wait({making})


async def to_its_end(task: "asyncio.Task[T]") -> T:
    """What `task` returns, waited for even if the waiting task is cancelled meanwhile."""
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait({task})
    return task.result()


async def _guarded(name: str, work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except CosyvoicedError as error:  # an expected one: its sentence tells all
        log.warning("%s: %s", name, error)
    except Exception:
        log.exception("%s failed", name)


async def _forever(name: str, loop: Callable[[], Awaitable[None]]) -> None:
    while True:
        try:
            await loop()
        except Exception:
            log.exception("%s failed and is started again", name)
            await asyncio.sleep(RESTART_PAUSE_S)
