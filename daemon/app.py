"""The composition root: builds the parts from a configuration, starts them in order,
stops them in reverse.
"""

import asyncio
import logging
import os
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Literal

from daemon import __version__, configfile
from daemon import config as options
from daemon.audio import chime
from daemon.audio.speaker import Speaker
from daemon.clock import system_clock
from daemon.config import Config
from daemon.instance import InstanceLock
from daemon.jobs.announcer import Announcer
from daemon.jobs.journal import Journal
from daemon.jobs.ledger import Ledger
from daemon.jobs.pipeline import Pipeline
from daemon.jobs.queue import JobQueue
from daemon.jobs.quiet import QuietClock
from daemon.jobs.reception import Reception
from daemon.jobs.reception import Say as SayDelivery
from daemon.mqtt import topics as topic_tree
from daemon.mqtt.configured import link_settings, topics
from daemon.mqtt.controls import Controls
from daemon.mqtt.embedded import EmbeddedBroker
from daemon.mqtt.intake import Defaults
from daemon.mqtt.link import Link
from daemon.mqtt.results import Results
from daemon.mqtt.status import Status
from daemon.mqtt.traffic import Delivery
from daemon.storage.outputs import Outputs
from daemon.storage.phrases import PhraseCache
from daemon.storage.prune import prune
from daemon.storage.settings import SettingsStore
from daemon.synthesis import engines
from daemon.tasks import Tasks
from daemon.watch import sensors

log = logging.getLogger(__name__)

PRUNE_INTERVAL_S = 60.0
VOICES_INTERVAL_S = 5.0

End = Literal["stop", "reload"]


class App:
    """All parts of one daemon."""

    def __init__(self, config: Config, config_path: Path | None = None) -> None:
        """`config_path` is what a reload reads."""
        self._config_path = config_path
        environment = dict(os.environ)
        state_dir = options.state_dir(config, environment)
        self._config = config
        self._topics = topics(config)
        self._clock = system_clock()
        self._state_dir = state_dir
        self._engines = engines.open_engines(config, state_dir)
        self._lock = InstanceLock(state_dir)
        self._settings = SettingsStore(state_dir / "settings.json")
        self._ledger = Ledger(Journal(state_dir / "journal.sqlite"), self._clock)
        self._outputs = Outputs(options.outputs_dir(config))
        self._cache = PhraseCache(options.phrases_dir(config, environment))
        self._outputs_bytes = 0
        self.address = (config.mqtt.host, config.mqtt.port)
        self._broker = (
            EmbeddedBroker(config.mqtt.host, config.mqtt.port) if config.mqtt.broker == "embedded" else None
        )
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
            await self._start_storage(stack)
            if self._broker is not None:
                stack.push_async_callback(self._broker.stop)
                found = await self._broker.start()
                self.address = (found.host, found.port)
            stack.push_async_callback(self._engines.stop)
            await self._engines.start()
            stack.push_async_callback(self._speaker.stop)
            await self._speaker.start()
            self._build(*self.address)
            stack.push_async_callback(self._results.confirm)
            self._queue.restore(await self._ledger.open_jobs())
            stack.push_async_callback(self._link.stop, b"offline")
            await self._link.start()
            stack.push_async_callback(self._tasks.stop)
            self._start_tasks(online)
            end = await self._ending
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

    async def _start_storage(self, stack: AsyncExitStack) -> None:
        await self._ledger.start()
        stack.push_async_callback(self._ledger.stop)
        self._outputs.start()
        self._cache.start()
        self._settings.load()
        await self._prune_once()

    def _build(self, host: str, port: int) -> None:
        """Joins the parts that know each other."""
        config = self._config
        self._online = asyncio.Event()
        self._link = Link(
            link_settings(self._config, host, port),
            self._topics.subscriptions,
            self._topics.heartbeat,
            self._deliver,
            self._connected,
        )
        self._results = Results(self._link, self._topics, self._ledger, self._clock)
        self._status = Status(
            self._link,
            self._topics,
            self._queue,
            self._results,
            self._engines,
            lambda: self._outputs_bytes,
            Path(config.watch.root),
            config.watch.state_interval_s,
        )
        self._announcer = Announcer(
            self._queue,
            self._results,
            self._engines,
            self._speaker,
            self._outputs,
            self._cache,
            lambda: sensors.memory_available_bytes(Path(config.watch.root)),
            lambda: self._settings.current,
            config.speaker.volume,
            self._clock,
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

    def _defaults(self) -> Defaults:
        config, settings = self._config, self._settings.current
        voice = settings.voice or config.voice
        named = config.speaker.chime
        return Defaults(
            style=settings.style or config.style,
            voice=None if voice == "auto" else voice,
            language=config.language,
            seed=config.seed,
            chime=(named if isinstance(named, str) else chime.names()[0]) if named else None,
            default_chime=named if isinstance(named, str) else chime.names()[0],
            ttl_s=config.limits.ttl_s,
            max_text_length=config.limits.max_text_length,
            voices=self._engines.voices,
            chimes=chime.names(),
            base_topic=config.mqtt.base_topic,
        )

    def _connected(self, session_present: bool, first: bool) -> None:
        """Birth: says that the device is there, how it is, and what it can do."""
        self._link.publish(self._topics.availability, b"online", retain=True)
        self._status.publish_lists(list(self._engines.voices.values()))
        self._controls.echo_all()
        self._status.publish()
        self._tasks.spawn("tell results again", self._results.tell_again())
        self._online.set()

    def _deliver(self, delivery: Delivery) -> None:
        """Sends a delivery to the part that it is for. A stored replay of an old message is for none."""
        asked = self._topics.classify(delivery.topic)
        if delivery.retain:
            log.info("a stored message on %s is dropped: it was sent before this connection", delivery.topic)
            asked = None
        match asked:
            case topic_tree.Say(style):
                self._reception.deliver(SayDelivery(delivery, style))
                return
            case topic_tree.Command(verb):
                caught_up = self._reception.mark()
                self._tasks.spawn("command", self._controls.command(verb, delivery.payload, caught_up))
            case topic_tree.Set(name):
                self._tasks.spawn("setting", self._set(name, delivery.payload))
        self._link.acknowledge(delivery)

    async def _set(self, name: str, payload: bytes) -> None:
        self._controls.set(name, payload)

    def _start_tasks(self, online: Callable[[], None]) -> None:
        async def tell_online() -> None:
            await self._online.wait()
            online()

        self._tasks.spawn("online", tell_online())
        if self._config.worker.warm_start:
            self._tasks.spawn("loading the engine", self._engines.preferred.warm())
        quiet_clock = QuietClock(
            self._config.quiet_hours, self._settings, lambda: self._controls.echo("do_not_disturb")
        )
        for name, loop in (
            ("reception", self._reception.run),
            ("pipeline", self._pipeline.run),
            ("expiry", self._pipeline.expire),
            ("results", self._results.run),
            ("status", self._status.run),
            ("pruning", self._prune),
            ("quiet hours", quiet_clock.run),
        ):
            self._tasks.keep(name, loop)

        if self._engines.enrols:
            self._tasks.keep("voices", self._look_for_voices)

    async def _look_for_voices(self) -> None:
        """A voice that was added, changed or removed meanwhile needs no restart."""
        while True:
            await asyncio.sleep(VOICES_INTERVAL_S)
            found = await asyncio.to_thread(engines.find, self._config, self._state_dir)
            if self._engines.renew(found):
                self._status.publish_lists(list(self._engines.voices.values()))

    async def _prune(self) -> None:
        while True:
            await asyncio.sleep(PRUNE_INTERVAL_S)
            await self._prune_once()
            await self._ledger.forget_old()

    async def _prune_once(self) -> None:
        self._outputs_bytes = await asyncio.to_thread(prune, self._outputs.folder, self._config.outputs)
        await asyncio.to_thread(prune, self._cache.folder, self._config.phrases)
