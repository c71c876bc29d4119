"""Which engines there are, and what the daemon must know of one before it is loaded."""

from collections.abc import Mapping
from typing import NamedTuple

from daemon.errors import CosyvoicedError
from daemon.synthesis.builtin import voices
from daemon.synthesis.builtin.version import version
from daemon.synthesis.engine import VoiceInfo

BUILTIN_SAMPLE_RATE_HZ = 24000  # of both its models


class EngineFacts(NamedTuple):
    """An engine as the daemon sees it from outside the worker process."""

    name: str
    version: str  # part of the phrase cache's key
    sample_rate_hz: int
    voices: Mapping[str, VoiceInfo]


def choose(engine: str) -> EngineFacts:
    """The engine that `engine: auto|builtin|cosyvoice3` stands for. Raises `CosyvoicedError`."""
    if engine == "cosyvoice3":
        raise CosyvoicedError("engine: cosyvoice3 is not part of this version; use auto or builtin")
    return EngineFacts(voices.ENGINE, version(), BUILTIN_SAMPLE_RATE_HZ, voices.VOICES)
