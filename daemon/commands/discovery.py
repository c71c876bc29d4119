"""`cosyvoiced discovery`: what Home Assistant is told of this device, and how it forgets it."""

import json
import os
import queue
import time
from pathlib import Path

from daemon import config as options
from daemon import configfile
from daemon.homeassistant.record import Record
from daemon.mqtt.configured import discovery_message, discovery_topic, link_settings
from daemon.mqtt.visitor import CallError, Visitor
from daemon.synthesis import engines

ECHO_DEADLINE_S = 5.0


def show(path: Path) -> int:
    """Prints the discovery message. Raises `ConfigError`."""
    config = configfile.load(path, ready=False)
    found = engines.find(config, options.state_dir(config, dict(os.environ)))
    voices = [name for engine in found for name in engine.voices]
    print(json.dumps(discovery_message(config, voices), ensure_ascii=False, indent=2))
    return 0


def forget(path: Path) -> int:
    """Clears the discovery message, and earlier ones that may be left, at the broker.

    Raises:
        ConfigError: the configuration cannot be used.
        CallError: no broker answers, or it does not let this user do it.
    """
    config = configfile.load(path, ready=False)
    earlier = Record(options.state_dir(config, dict(os.environ))).topics()
    topics = (discovery_topic(config), *sorted(earlier - {discovery_topic(config)}))
    settings = link_settings(config, config.mqtt.host, config.mqtt.port)
    empty: queue.SimpleQueue[str] = queue.SimpleQueue()

    def heard(topic: str, payload: bytes) -> None:
        if not payload:
            empty.put(topic)

    with Visitor(settings, topics, heard) as visitor:
        for topic in topics:
            visitor.publish(topic, b"", retain=True)
        _wait_for_all(empty, set(topics))
    for topic in topics:
        print(f"{topic} is cleared")
    if config.homeassistant.discovery:
        print(
            "A running daemon announces itself again when Home Assistant or the broker starts: "
            "for good, set homeassistant.discovery to false."
        )
    return 0


def _wait_for_all(empty: "queue.SimpleQueue[str]", missing: set[str]) -> None:
    """Waits until the broker has passed on every empty message. Raises `CallError`."""
    ends_at_s = time.monotonic() + ECHO_DEADLINE_S
    while missing:
        try:
            missing.discard(empty.get(timeout=max(0.0, ends_at_s - time.monotonic())))
        except queue.Empty as error:
            names = ", ".join(sorted(missing))
            raise CallError(f"the broker takes nothing for {names}; may this user write there?") from error
