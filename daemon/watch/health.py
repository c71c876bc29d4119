"""Whether broker, engine and speaker have each answered lately; systemd's watchdog is fed only then.

A part that says that it cannot, and goes on trying, has answered: a broker that is away, an engine that
is unloaded, a device without speaker. What the watchdog is for is the part that says nothing any more.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping

from daemon.audio.speaker import Speaker
from daemon.children.child import ChildError
from daemon.mqtt.link import Link
from daemon.mqtt.settings import LinkError
from daemon.sd_notify import Notifier
from daemon.synthesis.engines import Engines
from daemon.synthesis.supervisor import Supervisor

log = logging.getLogger(__name__)

LOOK_INTERVAL_S = 15.0
ANSWER_DEADLINE_S = 5.0
WORKER_DEADLINE_S = 15.0  # as patient as with one that is at work: a machine that swaps is slow
PROBE_DEADLINE_S = 20.0  # the longest of these, and the end of what did not answer
LATELY_S = 60.0
CONNECTING_S = 60.0  # a name look-up and a connection attempt take no longer

Probe = Callable[[], Awaitable[None]]


class Silent(Exception):
    """A part does not answer; the sentence says which."""


class Health:
    """Asks the parts again and again, and tells systemd."""

    def __init__(
        self, probes: Mapping[str, Probe], notifier: Notifier, status: Callable[[], str | None]
    ) -> None:
        """
        Args:
            probes: each returns once its part has answered, and raises `Silent` when it does not.
            status: a line for `systemctl status` once the daemon is up; None until then.
        """
        self._probes = probes
        self._notifier = notifier
        self._status = status
        self._answered_at_s = dict.fromkeys(probes, time.monotonic())
        self._problems: dict[str, str] = {}

    @property
    def problems(self) -> tuple[str, ...]:
        """What did not answer when it was last asked, a sentence each."""
        return tuple(self._problems.values())

    async def run(self) -> None:
        """Asks until cancelled."""
        watchdog_s = self._notifier.watchdog_s
        interval_s = LOOK_INTERVAL_S if watchdog_s is None else min(LOOK_INTERVAL_S, watchdog_s / 4)
        while True:
            await self.look()
            await asyncio.sleep(interval_s)

    async def look(self) -> None:
        """Asks each part once, all at the same time."""
        await asyncio.gather(*(self._ask(name, probe) for name, probe in self._probes.items()))
        now_s = time.monotonic()
        silent = [name for name, at_s in self._answered_at_s.items() if now_s - at_s > self._lately_s]
        if silent:
            log.error("the watchdog is not fed: no answer from %s", ", ".join(silent))
        else:
            self._notifier.alive()
        if (line := self._status()) is not None:
            self._notifier.ready(line)  # again and again: a datagram can be lost

    @property
    def _lately_s(self) -> float:
        return self._notifier.watchdog_s or LATELY_S

    async def _ask(self, name: str, probe: Probe) -> None:
        try:
            async with asyncio.timeout(PROBE_DEADLINE_S):
                await probe()
        except (Silent, TimeoutError) as error:
            problem = str(error) or f"the {name} did not answer"
            if name not in self._problems:
                log.warning("%s", problem)
            self._problems[name] = problem
        else:
            if self._problems.pop(name, None) is not None:
                log.info("the %s answers again", name)
            self._answered_at_s[name] = time.monotonic()


def probes(link: Link, engines: Engines, speaker: Speaker) -> dict[str, Probe]:
    """A probe for each part that announcements need, by its name."""
    return {
        "broker": BrokerProbe(link),
        "engine": engine_probe(engines),
        "speaker": speaker_probe(speaker),
    }


class BrokerProbe:
    """A message to ourselves, through the broker."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._came_back = False

    async def __call__(self) -> None:
        """Raises `Silent`: the network thread stands still, or messages have stopped to come."""
        if self._link.idle_s > CONNECTING_S:
            raise Silent("the MQTT connection stands still")
        if not self._link.status.connected:
            return
        try:
            await self._link.round_trip(ANSWER_DEADLINE_S)
        except LinkError as error:
            if not self._link.status.connected:
                return
            if self._came_back:
                self._link.hang_up()  # a frozen broker; trying anew, we know at least that it is away
                raise Silent(str(error)) from error
            # Never since the start: access control keeps it from us, which a restart would not change.
            log.debug("the connection to the broker cannot be checked: %s", error)
        else:
            self._came_back = True


def engine_probe(engines: Engines) -> Probe:
    """Pings the workers; one that does not answer is replaced, which is an answer too."""

    async def ask_one(supervisor: Supervisor) -> None:
        try:
            await supervisor.ping(WORKER_DEADLINE_S)
        except ChildError as error:
            log.warning("the %s engine is started anew: %s", supervisor.engine, error)

    async def ask() -> None:
        await asyncio.gather(*map(ask_one, engines.supervisors))

    return ask


def speaker_probe(speaker: Speaker) -> Probe:
    """Pings the speaker process; one that does not answer is replaced, which is an answer too."""

    async def ask() -> None:
        try:
            await speaker.ping(ANSWER_DEADLINE_S)
        except ChildError as error:
            log.warning("the speaker process is started anew: %s", error)

    return ask
