"""Which topics may hold a discovery message of this device: one that is never cleared is a ghost for ever."""

import logging
from pathlib import Path

import msgspec

from daemon.mqtt.topics import TopicError, check_publishable
from daemon.storage.folders import write_whole

log = logging.getLogger(__name__)

FILE = "homeassistant.json"  # in the state folder


class Record:
    """A small JSON file, written whole at every change."""

    def __init__(self, state_dir: Path) -> None:
        self._path = state_dir / FILE

    def topics(self) -> frozenset[str]:
        """What is known; nothing without the file, or with one that cannot be read."""
        try:
            topics = msgspec.json.decode(self._path.read_bytes(), type=frozenset[str])
            for topic in topics:
                check_publishable(topic)
        except FileNotFoundError:
            return frozenset()
        except (OSError, msgspec.DecodeError, TopicError) as error:
            log.warning("discovery: %s cannot be read, a topic may be left over: %s", self._path, error)
            return frozenset()
        return topics

    def add(self, topic: str) -> None:
        known = self.topics()
        self._keep(known, known | {topic})

    def remove(self, topic: str) -> None:
        known = self.topics()
        self._keep(known, known - {topic})

    def _keep(self, known: frozenset[str], topics: frozenset[str]) -> None:
        """Writes the topics where they differ; a failure is logged."""
        if topics == known:
            return
        try:
            write_whole(self._path, msgspec.json.encode(sorted(topics)))
        except OSError as error:
            log.warning("discovery: the topics are not kept, one may be left over: %s", error)
