"""What the daemon must know of an engine before it is loaded, and who speaks what."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from daemon.synthesis.builtin import voices
from daemon.synthesis.builtin.version import version
from daemon.synthesis.engine import VoiceInfo

SAMPLE_RATE_HZ = 24000  # of every engine, so that one can take over from another at an open speaker

Choice = tuple[str, tuple[str, ...]]  # the voice that speaks, and what of the request it cannot honour


class EngineFacts(NamedTuple):
    """An engine as the daemon sees it from outside the worker process."""

    name: str
    version: str  # part of the phrase cache's key
    voices: Mapping[str, VoiceInfo]
    choose: Callable[[str | None, str, str], Choice]  # of a requested voice, a language and a text
    fingerprints: Mapping[str, str] = {}  # voice -> what changes with its sound; the version's for the others
    memory_bytes: int = 0  # what loading it takes; 0: so little that it is not asked

    @property
    def is_heavy(self) -> bool:
        """Whether it must make room where heat or memory are short."""
        return self.memory_bytes > 0

    def version_of(self, voice: str) -> str:
        """Changes whenever the same request with this voice may give other samples."""
        return self.version + self.fingerprints.get(voice, "")


class Route(NamedTuple):
    """One way to speak a request."""

    engine: EngineFacts
    voice: str
    degraded: tuple[str, ...]  # what of the request is not honoured this way


def builtin() -> EngineFacts:
    """The built-in engine; it has a voice for everything."""
    return EngineFacts(voices.ENGINE, version(), voices.VOICES, voices.choose)


def routes(
    requested: str | None, language: str, text: str, engines: Sequence[EngineFacts]
) -> tuple[Route, ...]:
    """The ways to speak a request, best first; the last is always the built-in engine.

    Args:
        requested: a voice's name; None for the first engine's own choice. A voice that is not there any
            more (a journal outlives it) is named in `degraded`.
        engines: by preference, the built-in engine last. One without voices speaks nothing.
    """
    owner = next((engine for engine in engines if requested in engine.voices), None)
    lost: tuple[str, ...] = ("voice",) if requested is not None and owner is None else ()
    first = owner or next(engine for engine in engines if engine.voices)
    voice, degraded = first.choose(requested if owner else None, language, text)
    found = [Route(first, voice, lost + degraded)]
    if first is not engines[-1]:
        voice, degraded = engines[-1].choose(None, language, text)
        found.append(Route(engines[-1], voice, tuple(dict.fromkeys(("voice", *degraded)))))
    return tuple(found)
