"""All engines of a daemon: what each can do, and the worker process that holds it."""

import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from daemon import config as options
from daemon.config import Config
from daemon.errors import AnnouncementError
from daemon.synthesis import cosyvoice3, facts
from daemon.synthesis.engine import EngineOptions, VoiceInfo
from daemon.synthesis.facts import EngineFacts, Route
from daemon.synthesis.supervisor import State, Supervisor
from daemon.synthesis.timings import Timings
from daemon.watch.policy import Level

log = logging.getLogger(__name__)

MAX_DEFAULT_THREADS = 4  # more make a sentence hardly faster and the machine much hotter

# The heavy engine takes some 3 s for a second of speech on a Raspberry Pi 5, and a first start measures.
HEAVY_JOB_BASE_S = 60.0
HEAVY_JOB_PER_CHARACTER_S = 3.0

LIGHT_MEMORY_BYTES = 420 * 2**20  # the built-in engine's worker with all of its models, see docs/bench.json
OVERGROWN = 1.5  # times what an engine needs: leaks in the libraries below it are known


class Engines:
    """The built-in engine, and CosyVoice3 before it where a prepared model is there."""

    def __init__(
        self,
        found: tuple[EngineFacts, ...],
        supervisors: Mapping[str, Supervisor],
        spare_bytes: Callable[[], int | None] = lambda: None,
    ) -> None:
        """
        Args:
            found: by preference, the built-in engine last; each has its supervisor.
            spare_bytes: memory that an engine may take now; None: unknown.
        """
        self._found = found
        self._supervisors = supervisors
        self._spare_bytes = spare_bytes
        self._level = Level.NORMAL
        self._reason: str | None = None

    @property
    def voices(self) -> dict[str, VoiceInfo]:
        """Every voice that can be asked for, the preferred engine's first."""
        return {name: voice for engine in self._found for name, voice in engine.voices.items()}

    @property
    def preferred(self) -> Supervisor:
        """The worker of the engine that speaks where no voice is named, as hot as the device is now."""
        able = (engine for engine in self._found if engine.voices and not self._rests(engine))
        return self._supervisors[next(able).name]

    @property
    def gentle(self) -> bool:
        """Whether a heavy engine is to make less heat."""
        return self._level >= Level.WARM

    @property
    def is_loaded(self) -> bool:
        """Whether one of the engines has been loaded since the start."""
        return any(supervisor.version is not None for supervisor in self._supervisors.values())

    @property
    def restarts(self) -> int:
        """How many workers had to be replaced since the start."""
        return sum(supervisor.restarts for supervisor in self._supervisors.values())

    @property
    def enrols(self) -> bool:
        """Whether there is an engine whose voices come and go."""
        return cosyvoice3.NAME in self._supervisors

    @property
    def rss_bytes(self) -> int:
        """Resident memory of all workers."""
        return sum(supervisor.rss_bytes for supervisor in self._supervisors.values())

    def supervisor(self, engine: EngineFacts) -> Supervisor:
        return self._supervisors[engine.name]

    def routes(self, voice: str | None, language: str, text: str) -> tuple[Route, ...]:
        """The ways to speak a request, best first."""
        return facts.routes(voice, language, text, self._found)

    def refusal(self, engine: EngineFacts) -> str | None:
        """Why this engine must not speak now, where another could; None when it may."""
        supervisor = self.supervisor(engine)
        if self._rests(engine):
            return f"the device is {self._level.label}: {self._reason}"
        if supervisor.state == State.FAILED:
            return f"it failed too often and is tried again in {supervisor.failed_for_s:.0f} s"
        if not engine.is_heavy or supervisor.pid is not None:
            return None  # without a look at the files of the kernel: this is asked for each waiting job
        spare_bytes = self._spare_bytes()
        if spare_bytes is not None and spare_bytes < engine.memory_bytes:
            return f"it needs {engine.memory_bytes >> 20} MiB and {max(0, spare_bytes) >> 20} can be spared"
        return None

    def refusal_of_all(self, voice: str | None, language: str, text: str) -> str | None:
        """Why no engine may speak this request now; None when one may."""
        last = None
        for route in reversed(
            self.routes(voice, language, text)
        ):  # the light engine first: it is seldom refused
            if (refusal := self.refusal(route.engine)) is None:
                return None
            last = last or refusal
        return last

    def throttle(self, level: Level, reason: str | None) -> None:
        """Takes what the device may do from now on, and why."""
        self._level = level
        self._reason = reason

    def resting(self) -> list[Supervisor]:
        """Those whose engine must not speak at the present level."""
        return [self.supervisor(engine) for engine in self._found if self._rests(engine)]

    def overgrown(self, max_bytes: int) -> list[Supervisor]:
        """Those whose worker has grown beyond `max_bytes`; 0: beyond what its engine needs, by half."""
        return [
            self.supervisor(engine)
            for engine in self._found
            if self.supervisor(engine).rss_bytes
            > (max_bytes or OVERGROWN * (engine.memory_bytes or LIGHT_MEMORY_BYTES))
        ]

    @property
    def supervisors(self) -> tuple[Supervisor, ...]:
        return tuple(self._supervisors.values())

    def _rests(self, engine: EngineFacts) -> bool:
        return engine.is_heavy and self._level >= Level.HOT

    def renew(self, found: tuple[EngineFacts, ...]) -> bool:
        """Takes what is known of the same engines now; whether their voices changed."""
        before = self._found
        self._found = tuple(engine for engine in found if engine.name in self._supervisors)
        return [engine.fingerprints for engine in self._found] != [engine.fingerprints for engine in before]

    async def warm(self) -> None:
        """Loads the preferred engine ahead of need, or else the next that can be had.

        Raises:
            AnnouncementError: none can.
        """
        *others, last = self._found
        for engine in others:
            if engine.voices and self.refusal(engine) is None:
                try:
                    return await self.supervisor(engine).warm()
                except AnnouncementError as error:
                    log.warning("%s is not loaded: %s", engine.name, error)
        await self.supervisor(last).warm()

    async def start(self) -> None:
        for supervisor in self._supervisors.values():
            await supervisor.start()

    async def stop(self) -> None:
        for supervisor in self._supervisors.values():
            await supervisor.stop()


def find(config: Config, state_dir: Path) -> tuple[EngineFacts, ...]:
    """The engines of a configuration that are there, by preference."""
    heavy = None
    if config.engine != "builtin":
        voices_dir, model_dir = options.voices_dir(state_dir), options.model_dir(config, state_dir)
        heavy = cosyvoice3.find(model_dir, voices_dir, config.cosyvoice3.quality)
    return (facts.builtin(),) if heavy is None else (heavy, facts.builtin())


def threads(config: Config) -> int:
    """How many the worker's engine uses."""
    return config.worker.threads or min(os.cpu_count() or 1, MAX_DEFAULT_THREADS)


def open_engines(
    config: Config, state_dir: Path, spare_bytes: Callable[[], int | None] = lambda: None
) -> Engines:
    """The engines of a configuration with a supervisor each."""
    found = find(config, state_dir)
    model_dir = options.model_dir(config, state_dir)
    engine_options = EngineOptions(
        state_dir=state_dir,
        threads=threads(config),
        model_dir=model_dir,
        quality=config.cosyvoice3.quality,
    )
    light = Timings(ready_s=config.worker.load_deadline_s, idle_s=config.worker.idle_unload_s or float("inf"))
    heavy = light.slower(HEAVY_JOB_BASE_S, HEAVY_JOB_PER_CHARACTER_S)
    return Engines(
        found,
        {
            engine.name: Supervisor(
                engine.name, engine_options, heavy if engine.name == cosyvoice3.NAME else light
            )
            for engine in found
        },
        spare_bytes,
    )
