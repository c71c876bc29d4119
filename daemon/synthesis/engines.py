"""All engines of a daemon: what each can do, and the worker process that holds it."""

import logging
import os
from collections.abc import Mapping
from pathlib import Path

from daemon import config as options
from daemon.config import Config
from daemon.synthesis import cosyvoice3, facts
from daemon.synthesis.engine import EngineOptions, VoiceInfo
from daemon.synthesis.facts import EngineFacts, Route
from daemon.synthesis.supervisor import State, Supervisor
from daemon.synthesis.timings import Timings

log = logging.getLogger(__name__)

MAX_DEFAULT_THREADS = 4  # more make a sentence hardly faster and the machine much hotter

# The heavy engine takes some 3 s for a second of speech on a Raspberry Pi 5, and a first start measures.
HEAVY_JOB_BASE_S = 60.0
HEAVY_JOB_PER_CHARACTER_S = 3.0


class Engines:
    """The built-in engine, and CosyVoice3 before it where a prepared model is there."""

    def __init__(self, found: tuple[EngineFacts, ...], supervisors: Mapping[str, Supervisor]) -> None:
        """`found`: by preference, the built-in engine last; each has its supervisor."""
        self._found = found
        self._supervisors = supervisors

    @property
    def voices(self) -> dict[str, VoiceInfo]:
        """Every voice that can be asked for, the preferred engine's first."""
        return {name: voice for engine in self._found for name, voice in engine.voices.items()}

    @property
    def preferred(self) -> Supervisor:
        """The worker of the engine that speaks where no voice is named."""
        return self._supervisors[next(engine.name for engine in self._found if engine.voices)]

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

    def refusal(self, engine: EngineFacts, free_bytes: int | None) -> str | None:
        """Why this engine must not speak now, where another could; None when it may."""
        supervisor = self.supervisor(engine)
        if supervisor.state == State.FAILED:
            return "it failed too often"
        loaded = supervisor.pid is not None
        if not loaded and free_bytes is not None and free_bytes < engine.memory_bytes:
            return f"it needs {engine.memory_bytes >> 20} MiB and {free_bytes >> 20} MiB are free"
        return None

    def renew(self, found: tuple[EngineFacts, ...]) -> bool:
        """Takes what is known of the same engines now; whether their voices changed."""
        before = self._found
        self._found = tuple(engine for engine in found if engine.name in self._supervisors)
        return [engine.fingerprints for engine in self._found] != [engine.fingerprints for engine in before]

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


def open_engines(config: Config, state_dir: Path) -> Engines:
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
    )
