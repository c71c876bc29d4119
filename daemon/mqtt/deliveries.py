"""Sends each delivery of the broker to the part that it is for."""

import logging

import msgspec

from daemon.hermes import intake as hermes
from daemon.homeassistant.advertiser import Advertiser
from daemon.jobs.reception import Play, Reception, Say
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
        self,
        topics: Topics,
        link: Link,
        reception: Reception,
        controls: Controls,
        tasks: Tasks,
        advertiser: Advertiser,
        hermes_site: str | None = None,
    ) -> None:
        """`hermes_site`: the name by which Rhasspy knows this device; None: it does not listen to Hermes."""
        self._topics = topics
        self._link = link
        self._reception = reception
        self._controls = controls
        self._tasks = tasks
        self._advertiser = advertiser
        self._hermes_site = hermes_site

    def take(self, delivery: Delivery) -> None:
        """Takes one delivery; a stored replay of an old message is for nobody."""
        if self._advertiser.take(delivery):
            self._link.acknowledge(delivery)
            return
        asked = self._asked(delivery)
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
            case hermes.Say(payload, asker):
                self._reception.deliver(Say(msgspec.structs.replace(delivery, payload=payload), None, asker))
                return
            case hermes.Play(asker):
                self._reception.deliver(Play(delivery, asker))
                return
            case hermes.Toggle(on):
                self._tasks.spawn("setting", self._set("do_not_disturb", b"OFF" if on else b"ON"))
        self._link.acknowledge(delivery)

    def _asked(self, delivery: Delivery) -> topic_tree.Asked | hermes.Asked | None:
        asked = self._topics.classify(delivery.topic)
        if asked is None and self._hermes_site is not None:
            return hermes.read(delivery.topic, delivery.payload, self._hermes_site)
        return asked

    async def _set(self, name: str, payload: bytes) -> None:
        self._controls.set(name, payload)
