"""Which topics may hold a discovery message of this device: one that is never cleared is a ghost for ever."""

import logging
import os
from pathlib import Path

import msgspec

from daemon.mqtt.topics import TopicError, check_publishable

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
        self._change(self.topics() | {topic})

    def remove(self, topic: str) -> None:
        self._change(self.topics() - {topic})

    def _change(self, topics: frozenset[str]) -> None:
        """Keeps the topics; a failure to write is logged."""
        if topics == self.topics():
            return
        temporary = self._path.with_name(f".{FILE}.tmp")
        try:
            with temporary.open("wb") as file:
                file.write(msgspec.json.encode(sorted(topics)))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self._path)
        except OSError as error:
            log.warning("discovery: the topics are not kept, one may be left over: %s", error)
