"""A client that asks a running daemon to say something and waits for what became of it."""

import queue
import secrets
import threading
import time
from typing import Any

import msgspec

from daemon.mqtt.messages import Event, Result
from daemon.mqtt.settings import LinkSettings
from daemon.mqtt.topics import Topics
from daemon.mqtt.visitor import CallError, Visitor

STOPPED = "the daemon was stopped before it was done"
ONLINE_DEADLINE_S = 2.0  # the retained availability comes right after the subscription
ANSWER_DEADLINE_S = 10.0  # for `accepted` or `rejected`; speaking may take longer

__all__ = ["CallError", "Caller", "is_success"]


class Caller:
    """Publishes requests and collects their results."""

    def __init__(self, settings: LinkSettings, topics: Topics) -> None:
        self._topics = topics
        self._results: queue.SimpleQueue[tuple[float, Result] | None] = queue.SimpleQueue()
        self._stopped = False
        self._online = threading.Event()  # what the daemon's availability says
        self._visitor = Visitor(settings, (topics.result, topics.availability), self._on_message)

    def __enter__(self) -> "Caller":
        """Connects and listens for results. Raises `CallError`."""
        self._visitor.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._visitor.__exit__()

    def hang_up(self) -> None:
        """Ends a wait in another thread: the daemon is gone, and no answer will come."""
        self._stopped = True
        self._visitor.hang_up()
        self._online.set()
        self._results.put(None)

    @property
    def online(self) -> bool:
        return self._online.is_set()

    def send(self, fields: dict[str, Any]) -> str:
        """Publishes one request; its id."""
        request_id = str(fields.setdefault("id", f"say-{secrets.token_hex(4)}"))
        self._visitor.publish(self._topics.own + "/say", msgspec.json.encode(fields))
        return request_id

    def events(self, request_id: str, deadline_s: float) -> "list[tuple[float, Result]]":
        """All results of a request up to its final one, each with `time.monotonic()` of its arrival.

        Raises:
            CallError: the daemon did not take the request, or did not end it in time.
        """
        seen: list[tuple[float, Result]] = []
        ends_s = time.monotonic() + deadline_s
        while not seen or not seen[-1][1].event.is_final:
            left_s = ends_s - time.monotonic()
            try:
                answer = self._results.get(
                    timeout=max(0.0, left_s if seen else min(left_s, ANSWER_DEADLINE_S))
                )
            except queue.Empty as error:
                if not seen:
                    raise CallError(f"no cosyvoiced answers on {self._topics.own}") from error
                raise CallError(
                    f"not finished within {deadline_s:g} s; the daemon goes on with it"
                ) from error
            if answer is None:
                raise CallError(STOPPED)
            if answer[1].id == request_id:
                seen.append(answer)
        return seen

    def say(self, fields: dict[str, Any], deadline_s: float) -> Result:
        """Sends a request to a daemon that is there, and waits for its final result. Raises `CallError`."""
        if not self._online.wait(ONLINE_DEADLINE_S):  # later it would be said to nobody's expectation
            raise CallError(f"no cosyvoiced is online as {self._topics.own}; start one, or use --local")
        if self._stopped:
            raise CallError(STOPPED)
        return self.events(self.send(fields), deadline_s)[-1][1]

    def _on_message(self, topic: str, payload: bytes) -> None:
        if topic == self._topics.availability:
            (self._online.set if payload == b"online" else self._online.clear)()
            return
        try:
            self._results.put((time.monotonic(), msgspec.json.decode(payload, type=Result)))
        except msgspec.DecodeError:  # a newer daemon's message, or somebody else's
            return


def is_success(result: Result) -> bool:
    return result.event == Event.FINISHED
