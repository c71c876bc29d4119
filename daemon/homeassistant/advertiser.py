"""Keeps the device's discovery message at the broker, and no earlier one."""

import asyncio
import functools
import logging
import random
from pathlib import Path

import msgspec

from daemon.config import Config
from daemon.homeassistant import discovery
from daemon.homeassistant.record import Record
from daemon.mqtt import configured
from daemon.mqtt.link import Link
from daemon.mqtt.settings import LinkError
from daemon.mqtt.traffic import Delivery
from daemon.synthesis.engines import Engines

log = logging.getLogger(__name__)

# All devices hear Home Assistant's birth at the same time; spread, they do not answer all at once.
RENEWAL_DELAYS_S = (1.0, 5.0)


class Advertiser:
    """Announces the device when it is connected, when Home Assistant starts, and when the voices change.

    With discovery turned off it clears what was announced before, and that is all.
    """

    def __init__(self, config: Config, state_dir: Path, link: Link, engines: Engines) -> None:
        options = config.homeassistant
        self._topic = configured.discovery_topic(config) if options.discovery else None
        self._birth_topic = discovery.birth_topic(options.prefix) if options.discovery else None
        self._config = config
        self._record = Record(state_dir)
        self._link = link
        self._engines = engines
        self._renewal = asyncio.Event()

    def clear_earlier(self) -> None:
        """Clears what this device announced under another node's name or another prefix."""
        for topic in self._record.topics() - {self._topic}:
            log.info("discovery: %s is cleared", topic)
            if (cleared := self._publish(topic, b"")) is not None:
                cleared.add_done_callback(functools.partial(self._forget, topic))

    def announce(self) -> None:
        """Publishes the discovery message as it is now."""
        if self._topic is None:
            return
        self._record.add(self._topic)  # first: there may be a power cut in between
        message = configured.discovery_message(self._config, self._engines.voices)
        self._publish(self._topic, msgspec.json.encode(message))

    def take(self, delivery: Delivery) -> bool:
        """Whether it is Home Assistant's birth or will. A birth, stored or not, renews the message."""
        if delivery.topic != self._birth_topic:
            return False
        if delivery.payload.strip() == b"online":
            self._renewal.set()
        return True

    async def run(self) -> None:
        """Announces the device again whenever Home Assistant has started. Runs until cancelled."""
        while True:
            await self._renewal.wait()
            await asyncio.sleep(random.uniform(*RENEWAL_DELAYS_S))
            self._renewal.clear()
            self.announce()

    def _publish(self, topic: str, payload: bytes) -> "asyncio.Future[None] | None":
        try:
            return self._link.publish(topic, payload, retain=True)
        except LinkError as error:
            log.warning("discovery: nothing can be published to %s: %s", topic, error)
            return None

    def _forget(self, topic: str, cleared: "asyncio.Future[None]") -> None:
        if not cleared.cancelled() and cleared.exception() is None:
            self._record.remove(topic)
