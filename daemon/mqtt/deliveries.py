"""Sends each delivery of the broker to the part that it is for."""

import logging

from daemon.jobs.reception import Reception, Say
from daemon.mqtt import topics as topic_tree
from daemon.mqtt.controls import Controls
from daemon.mqtt.link import Link
from daemon.mqtt.topics import Topics
from daemon.mqtt.traffic import Delivery
from daemon.tasks import Tasks

log = logging.getLogger(__name__)


class Deliveries:
    """The way from the link to the reception and to the controls."""

    def __init__(
        self, topics: Topics, link: Link, reception: Reception, controls: Controls, tasks: Tasks
    ) -> None:
        self._topics = topics
        self._link = link
        self._reception = reception
        self._controls = controls
        self._tasks = tasks

    def take(self, delivery: Delivery) -> None:
        """Takes one delivery; a stored replay of an old message is for nobody."""
        asked = self._topics.classify(delivery.topic)
        if delivery.retain:
            log.info("a stored message on %s is dropped: it was sent before this connection", delivery.topic)
            asked = None
        match asked:
            case topic_tree.Say(style):
                self._reception.deliver(Say(delivery, style))
                return
            case topic_tree.Command(verb):
                caught_up = self._reception.mark()
                self._tasks.spawn("command", self._controls.command(verb, delivery.payload, caught_up))
            case topic_tree.Set(name):
                self._tasks.spawn("setting", self._set(name, delivery.payload))
        self._link.acknowledge(delivery)

    async def _set(self, name: str, payload: bytes) -> None:
        self._controls.set(name, payload)
