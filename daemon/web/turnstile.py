"""How much one client, and all of them together, may ask of the engine."""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from daemon.web.refusals import Refusal, WebCode

MAX_CLIENTS = 1024  # remembered; the one that asked longest ago is forgotten first
MAX_AT_ONCE = 8
MAX_AT_ONCE_PER_CLIENT = 2
RETRY_S = 1.0


class Rate:
    """A token bucket for each client: a minute's allowance at once, then as it comes."""

    def __init__(self, per_min: int, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._per_min = per_min
        self._monotonic_s = monotonic_s
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # client: (tokens, at)

    def take(self, client: str) -> None:
        """Raises `Refusal` (429)."""
        now_s, per_s = self._monotonic_s(), self._per_min / 60
        tokens, then_s = self._buckets.pop(client, (float(self._per_min), now_s))
        tokens = min(self._per_min, tokens + (now_s - then_s) * per_s)
        granted = tokens >= 1
        self._buckets[client] = (tokens - 1 if granted else tokens, now_s)
        while len(self._buckets) > MAX_CLIENTS:
            self._buckets.popitem(last=False)
        if not granted:
            raise Refusal(
                *(429, WebCode.RATE_LIMITED, f"{self._per_min} requests a minute are allowed"),
                retry_after_s=(1 - tokens) / per_s,
            )


class Turnstile:
    """Lets so many in at a time."""

    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self._inside: Counter[str] = Counter()

    @contextmanager
    def enter(self, client: str) -> Iterator[None]:
        """Raises `Refusal` (429, 503)."""
        if self._inside[client] >= MAX_AT_ONCE_PER_CLIENT:
            message = f"{MAX_AT_ONCE_PER_CLIENT} requests of this client are being answered already"
            raise Refusal(429, WebCode.RATE_LIMITED, message, RETRY_S)
        if self._inside.total() >= MAX_AT_ONCE:
            message = f"{MAX_AT_ONCE} requests are being answered already"
            raise Refusal(503, WebCode.BUSY, message, RETRY_S)
        self._rate.take(client)
        self._inside[client] += 1
        try:
            yield
        finally:
            self._inside[client] -= 1
            self._inside += Counter()  # forgets those who have left
