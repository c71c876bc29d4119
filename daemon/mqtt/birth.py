"""Birth: at every connection, says that the device is there, how it is, and what it can do."""

import asyncio

from daemon.homeassistant.advertiser import Advertiser
from daemon.mqtt.controls import Controls
from daemon.mqtt.link import Link
from daemon.mqtt.results import Results
from daemon.mqtt.status import Status
from daemon.mqtt.topics import Topics
from daemon.synthesis.engines import Engines
from daemon.tasks import Tasks


class Birth:
    """What is told first."""

    def __init__(
        self,
        link: Link,
        topics: Topics,
        advertiser: Advertiser,
        controls: Controls,
        status: Status,
        results: Results,
        engines: Engines,
        tasks: Tasks,
    ) -> None:
        self._link = link
        self._topics = topics
        self._advertiser = advertiser
        self._controls = controls
        self._status = status
        self._results = results
        self._engines = engines
        self._tasks = tasks
        self.online = asyncio.Event()

    def connected(self, session_present: bool, first: bool) -> None:
        self._link.publish(self._topics.availability, b"online", retain=True)
        self._advertiser.clear_earlier()
        self.tell_choices()
        self._controls.echo_all()
        self._status.publish()
        self._tasks.spawn("tell results again", self._results.tell_again())
        self.online.set()

    def tell_choices(self) -> None:
        """Says which voices and styles there are."""
        self._status.publish_lists(list(self._engines.voices.values()))
        self._advertiser.announce()
