"""Outgoing messages: those that wait for the broker, and those that it has not acknowledged yet."""

import asyncio
from collections.abc import Callable

from daemon.mqtt.settings import LinkError
from daemon.mqtt.traffic import Outgoing


class Pending:
    """One outgoing message on its way."""

    __slots__ = ("done", "outgoing")

    def __init__(self, outgoing: Outgoing, done: asyncio.Future[None]) -> None:
        self.outgoing = outgoing
        self.done = done


class Outbox:
    """Bounded, in order; a retained message that still waits is replaced by a newer one for its topic."""

    def __init__(self, max_waiting: int) -> None:
        self._max_waiting = max_waiting
        self._waiting: dict[object, Pending] = {}  # in order; a retained message under its topic
        self._inflight: dict[int, Pending] = {}  # by packet identifier

    def __len__(self) -> int:
        return len(self._waiting) + len(self._inflight)

    @property
    def going_out(self) -> list[asyncio.Future[None]]:
        return [pending.done for pending in (*self._waiting.values(), *self._inflight.values())]

    def put(self, outgoing: Outgoing) -> asyncio.Future[None]:
        """Adds a message; the future is done when the broker has it. Raises `LinkError` when full.

        There is always room for a retained one: only the newest of each topic waits, and a device that
        cannot say that it is back seems to be away for ever.
        """
        key: object = outgoing.topic if outgoing.retain else object()
        older = self._waiting.pop(key, None)
        if not outgoing.retain and len(self._waiting) >= self._max_waiting:
            raise LinkError(f"{self._max_waiting} messages wait for the MQTT broker already")
        done = older.done if older is not None else new_future()
        self._waiting[key] = Pending(outgoing, done)
        return done

    def pump(
        self,
        window: int,
        send: Callable[[Outgoing], int | None],
        refusal_of: Callable[[Outgoing], str | None],
    ) -> None:
        """Hands waiting messages to `send`, as many as may be under way; it gives their identifiers."""
        while self._waiting and len(self._inflight) < window:
            key, pending = next(iter(self._waiting.items()))
            refusal = refusal_of(pending.outgoing)
            mid = send(pending.outgoing) if refusal is None else None
            if refusal is None and mid is None:
                return
            del self._waiting[key]
            if mid is not None and pending.outgoing.qos > 0:
                self._inflight[mid] = pending
            else:
                finish(pending.done, refusal)

    def acknowledged(self, mid: int) -> Pending | None:
        """The message that the broker has dealt with."""
        return self._inflight.pop(mid, None)

    def send_again(self) -> None:
        """What was under way went with an earlier client: it comes first now."""
        resend: dict[object, Pending] = {object(): pending for pending in self._inflight.values()}
        self._inflight.clear()
        self._waiting = {**resend, **self._waiting}

    def close(self, refusal: str) -> None:
        """All that is left fails."""
        left = self.going_out
        self._waiting.clear()
        self._inflight.clear()
        for done in left:
            finish(done, refusal)


def new_future() -> asyncio.Future[None]:
    """A future whose failure nobody has to look at."""
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    future.add_done_callback(lambda done: None if done.cancelled() else _seen(done.exception()))
    return future


def _seen(_error: BaseException | None) -> None:
    """Asyncio complains of an exception that was never retrieved; this one was."""


def finish(future: asyncio.Future[None], refusal: str | None) -> None:
    """Ends a future, with `LinkError` for a refusal; one that was cancelled stays so."""
    if future.done():
        return
    if refusal is None:
        future.set_result(None)
    else:
        future.set_exception(LinkError(refusal))
