"""The composition root: builds all parts, starts them in order, stops them in reverse."""

import asyncio
import logging
import os
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Literal

from daemon import __version__, configfile
from daemon import config as options
from daemon.audio.speaker import Speaker
from daemon.clock import system_clock
from daemon.config import Config
from daemon.homeassistant.advertiser import Advertiser
from daemon.instance import InstanceLock
from daemon.jobs.announcer import Announcer
from daemon.jobs.fallback import FallbackJournal
from daemon.jobs.ledger import Ledger
from daemon.jobs.pipeline import Pipeline
from daemon.jobs.queue import JobQueue
from daemon.jobs.quiet import QuietClock
from daemon.jobs.reception import Reception
from daemon.jobs.studio import Studio
from daemon.mqtt.birth import Birth
from daemon.mqtt.configured import defaults, hermes_site, link_settings, subscriptions, topics
from daemon.mqtt.controls import Controls
from daemon.mqtt.deliveries import Deliveries
from daemon.mqtt.embedded import EmbeddedBroker
from daemon.mqtt.intake import Defaults
from daemon.mqtt.link import Link
from daemon.mqtt.results import Results
from daemon.mqtt.status import Status
from daemon.sd_notify import Notifier
from daemon.storage.disk import MIB
from daemon.storage.housekeeping import Housekeeping
from daemon.storage.outputs import Outputs
from daemon.storage.phrases import PhraseCache
from daemon.storage.settings import SettingsStore
from daemon.synthesis import engines
from daemon.tasks import Tasks
from daemon.watch.guard import Guard, spare_memory_bytes
from daemon.watch.health import Health, probes
from daemon.watch.metrics import Metrics
from daemon.watch.problems import problems
from daemon.watch.readiness import Readiness
from daemon.watch.voices import VoiceWatch
from daemon.web.feed import Feed
from daemon.web.parts import Parts
from daemon.web.service import WebService
from daemon.wyoming.service import WyomingService

log = logging.getLogger(__name__)

End = Literal["stop", "reload"]


class App:
    """All parts of one daemon."""

    def __init__(
        self,
        config: Config,
        config_path: Path | None = None,
        notifier: Notifier | None = None,
        journal: FallbackJournal | None = None,
    ) -> None:
        """
        Args:
            config_path: what a reload reads.
            notifier: the way to systemd; None: nobody is told.
            journal: of the life before a reload; None: opened anew.
        """
        self._config_path = config_path
        environment = dict(os.environ)
        self._state_dir = state_dir = options.state_dir(config, environment)
        self._config = config
        self._topics = topics(config)
        self._clock = system_clock()
        self._engines = engines.open_engines(config, state_dir, lambda: spare_memory_bytes(config.watch))
        self._lock = InstanceLock(state_dir)
        self._settings = SettingsStore(state_dir / "settings.json")
        self._ledger = Ledger(journal or FallbackJournal(options.journal_path(state_dir)), self._clock)
        min_free_bytes = config.watch.disk.refuse_mib * MIB
        self._outputs = Outputs(options.outputs_dir(config), min_free_bytes)
        self._cache = PhraseCache(options.phrases_dir(config, environment), min_free_bytes)
        self._metrics = Metrics()
        self._feed = Feed()
        self._notifier = notifier or Notifier()
        self.address = (config.mqtt.host, config.mqtt.port)
        self._broker = EmbeddedBroker(*self.address) if config.mqtt.broker == "embedded" else None
        self._speaker = Speaker(
            config.speaker.device, lead_in_s=config.speaker.lead_in_s, tail_s=config.speaker.tail_s
        )
        self._queue = JobQueue(config.limits.queue_length, self._clock)
        self._ending: asyncio.Future[End] | None = None
        self._tasks = Tasks()

    async def run(self, online: Callable[[], None] = lambda: None) -> End:
        """Runs until `end` is called. `online` is called once the daemon takes messages.

        Raises:
            CosyvoicedError: a part cannot start; the sentence says which and why.
        """
        self._ending = asyncio.get_running_loop().create_future()
        engine = self._engines.preferred.engine
        log.info("cosyvoiced %s listens as %s, engine %s", __version__, self._topics.own, engine)
        async with AsyncExitStack() as stack:
            self._lock.acquire()
            stack.callback(self._lock.release)
            self._outputs.start()
            self._cache.start()
            await self._ledger.start()
            stack.push_async_callback(self._ledger.stop)
            self._settings.load()
            if self._broker is not None:
                stack.push_async_callback(self._broker.stop)
                found = await self._broker.start()
                self.address = (found.host, found.port)
            stack.push_async_callback(self._engines.stop)
            await self._engines.start()
            stack.push_async_callback(self._speaker.stop)
            await self._speaker.start()
            self._build(*self.address)
            self._queue.restore(await self._ledger.open_jobs())
            await self._housekeeping.look()
            await self._guard.look()  # on a hot device, the heavy engine is not even loaded
            stack.push_async_callback(self._wyoming.stop)
            await self._wyoming.start()
            stack.push_async_callback(self._results.confirm)
            stack.push_async_callback(self._link.stop, b"offline")
            await self._link.start()
            stack.push_async_callback(self._tasks.stop)
            self._start_tasks(online)
            stack.push_async_callback(self._web.stop)
            await self._web.start()
            end = await self._ending
            (self._notifier.stopping if end == "stop" else self._notifier.reloading)()
            self._status.stopping = True
            self._status.publish()
            log.info("stopping")
        return end

    def end(self, how: End = "stop") -> None:
        """Asks `run` to come to its end."""
        if self._ending is not None and not self._ending.done():
            self._ending.set_result(how)

    def reload(self) -> None:
        """Ends this life for one with a new configuration. Raises `ConfigError`; then nothing ends."""
        if self._config_path is not None:
            configfile.load(self._config_path)
            self.end("reload")

    def _build(self, host: str, port: int) -> None:
        """Joins the parts that know each other."""
        config = self._config
        self._link = Link(
            link_settings(self._config, host, port),
            subscriptions(config),
            self._topics.heartbeat,
            lambda delivery: self._deliveries.take(delivery),
            lambda session_present, first: self._birth.connected(session_present, first),
        )
        told = self._feed.tell
        self._results = Results(self._link, self._topics, self._ledger, self._clock, self._metrics, told)
        self._announcer = Announcer(
            self._queue,
            self._results,
            self._engines,
            self._speaker,
            self._outputs,
            self._cache,
            lambda: self._settings.current,
            config.speaker.volume,
            self._clock,
        )
        self._housekeeping = Housekeeping(
            config,
            self._outputs,
            self._cache,
            self._ledger,
            self._queue,
            lambda: [path for entry in self._queue.waiting for path in self._announcer.phrases(entry.job)],
        )
        self._guard = Guard(
            config.watch,
            config.worker.max_mib,
            self._engines,
            self._queue,
            self._announcer.is_cached,
            self._metrics,
            lambda: self._status.changed(),
        )
        self._queue.restrain(self._guard.must_wait)
        studio = Studio(self._engines, self._cache, self._guard.refusal)
        self._wyoming = WyomingService(config, self._engines, studio, self._defaults)
        self._status = Status(
            self._link,
            self._topics,
            self._queue,
            self._results,
            self._engines,
            self._guard,
            self._housekeeping,
            self._metrics,
            lambda: problems(self._guard, self._speaker, self._housekeeping, self._ledger, self._health),
            config.watch.state_interval_s,
            told,
        )
        self._readiness = Readiness(self._notifier, self._engines, self._link, config.worker.warm_start)
        self._health = Health(
            probes(self._link, self._engines, self._speaker),
            self._notifier,
            lambda: self._status.line() if self._readiness.is_up else None,
        )
        self._pipeline = Pipeline(
            self._queue, self._ledger, self._results, self._announcer, self._status.changed
        )
        self._reception = Reception(
            self._link,
            self._ledger,
            self._queue,
            self._results,
            self._defaults,
            self._pipeline.interrupt,
            self._status.changed,
            self._cache,
            self._clock,
        )
        self._controls = Controls(
            config,
            self._link,
            self._topics,
            self._queue,
            self._pipeline,
            self._announcer,
            self._reception,
            self._results,
            self._ledger,
            self._settings,
            lambda: self._engines.voices,
            self._clock,
            self.reload,
            self._status.changed,
        )
        self._advertiser = Advertiser(config, self._state_dir, self._link, self._engines)
        self._birth = Birth(
            *(self._link, self._topics, self._advertiser, self._controls, self._status, self._results),
            *(self._engines, self._tasks),
        )
        self._deliveries = Deliveries(
            self._topics,
            self._link,
            self._reception,
            self._controls,
            self._tasks,
            self._advertiser,
            hermes_site(config),
        )
        shared = (self._engines, studio, self._cache, self._outputs, self._queue, self._ledger)
        told_by = (self._reception, self._controls, self._status, self._feed)
        parts = Parts(*shared, *told_by, self._defaults, self._clock)
        self._web = WebService(config, self._state_dir, parts)

    def _defaults(self) -> Defaults:
        return defaults(self._config, self._settings.current, self._engines.voices)

    def _start_tasks(self, online: Callable[[], None]) -> None:
        async def tell_online() -> None:
            await self._birth.online.wait()
            online()

        self._tasks.spawn("online", tell_online())
        self._tasks.spawn("loading the engine", self._readiness.load_engine())
        self._tasks.spawn("readiness", self._readiness.tell())
        quiet_clock = QuietClock(
            self._config.quiet_hours, self._settings, lambda: self._controls.echo("do_not_disturb")
        )
        for name, loop in (
            ("reception", self._reception.run),
            ("pipeline", self._pipeline.run),
            ("expiry", self._pipeline.expire),
            ("results", self._results.run),
            ("status", self._status.run),
            ("housekeeping", self._housekeeping.run),
            ("guard", self._guard.run),
            ("health", self._health.run),
            ("quiet hours", quiet_clock.run),
            ("discovery", self._advertiser.run),
        ):
            self._tasks.keep(name, loop)
        if self._engines.enrols:
            watch = VoiceWatch(self._config, self._state_dir, self._engines, self._birth.tell_choices)
            self._tasks.keep("voices", watch.run)
