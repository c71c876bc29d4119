"""The parts of the daemon that the gateway speaks to."""

from collections.abc import Callable
from typing import NamedTuple

from daemon.clock import Clock
from daemon.jobs.ledger import Ledger
from daemon.jobs.queue import JobQueue
from daemon.jobs.reception import Reception
from daemon.jobs.studio import Studio
from daemon.mqtt.controls import Controls
from daemon.mqtt.intake import Defaults
from daemon.mqtt.status import Status
from daemon.storage.outputs import Outputs
from daemon.storage.phrases import PhraseCache
from daemon.synthesis.engines import Engines
from daemon.web.feed import Feed


class Parts(NamedTuple):
    """All of them are shared with the MQTT side."""

    engines: Engines
    studio: Studio
    cache: PhraseCache
    outputs: Outputs
    queue: JobQueue
    ledger: Ledger
    reception: Reception
    controls: Controls
    status: Status
    feed: Feed
    defaults: Callable[[], Defaults]  # of a request, as for an MQTT message
    clock: Clock
