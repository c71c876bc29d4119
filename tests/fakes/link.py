"""A link to a broker that is not there."""

import asyncio
import json
from typing import Any

from daemon.mqtt.settings import LinkError
from daemon.mqtt.traffic import Delivery, LinkStatus


class FakeLink:
    """Takes what it is given while `room` lasts; `deliver` is the broker's acknowledgement."""

    def __init__(self, room: int = 1000, refuses: str = "") -> None:
        self.room = room
        self.refuses = refuses
        self.sent: list[tuple[str, dict[str, Any], bytes | None]] = []
        self.acknowledged: list[Delivery] = []
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def status(self) -> LinkStatus:
        return LinkStatus(
            address="", connected=True, protocol="5", last_error=None, waiting=len(self._waiting)
        )

    def publish(
        self, topic: str, payload: bytes, *, correlation_data: bytes | None = None
    ) -> "asyncio.Future[None]":
        if topic == self.refuses:
            raise LinkError("too large")
        if len(self._waiting) >= self.room:
            raise LinkError("full")
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        self.sent.append((topic, json.loads(payload), correlation_data))
        return future

    def deliver(self) -> None:
        for future in self._waiting:
            future.set_result(None)
        self._waiting.clear()

    def events(self, job_id: str) -> list[str]:
        """What was told of one job, in order."""
        return [result["event"] for _, result, _ in self.sent if result["id"] == job_id]

    def acknowledge(self, delivery: Delivery) -> None:
        self.acknowledged.append(delivery)
