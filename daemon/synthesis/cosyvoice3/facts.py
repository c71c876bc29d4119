"""What the daemon must know of CosyVoice3 before it is loaded: whether it is there, and its voices.

Read from small files without torch and numpy, which the daemon process never holds.
"""

import logging
from collections.abc import Collection, Mapping
from pathlib import Path

from cosyvoice.errors import CosyVoiceError
from cosyvoice.voices.index import VoiceHeader
from cosyvoice.voices.store import VoiceStore
from cosyvoice.weights import manifest
from daemon import __version__, extras
from daemon.synthesis.engine import VoiceInfo
from daemon.synthesis.facts import Choice, EngineFacts

log = logging.getLogger(__name__)

NAME = "cosyvoice3"
LIBRARIES = ("torch", "tokenizers", "safetensors")
INSTALL = extras.command(NAME)
SPIN_COUNT = "5000"  # about 0.1 ms: longer than from layer to layer, shorter than a turn of the scheduler
LANGUAGES = ("zh", "en", "ja", "ko", "de", "es", "fr", "it", "ru")  # of the published model
MEMORY_BYTES = 1350 * 2**20  # the worker while it speaks, see docs/bench.json


def find(model_dir: Path, voices_dir: Path, quality: str) -> EngineFacts | None:
    """The engine, where its libraries and a prepared model are there; its voices may be none yet."""
    if missing(model_dir) is not None:
        return None
    headers = _listed(VoiceStore(voices_dir))
    voices = {header.name: _info(header) for header in headers}
    return EngineFacts(
        name=NAME,
        version=f"{NAME}-{__version__}-{manifest.read(model_dir).fingerprint}-{quality}",
        voices=voices,
        choose=lambda requested, language, text: choose(voices, requested, language),
        fingerprints={header.name: header.digest for header in headers},
        memory_bytes=MEMORY_BYTES,
    )


def missing(model_dir: Path) -> str | None:
    """What the engine lacks and how to get it, as a sentence; None when nothing."""
    if (libraries := to_install()) is not None:
        return libraries
    try:
        manifest.read(model_dir)
    except CosyVoiceError as error:
        return str(error)
    return None


def absent(libraries: Collection[str] = LIBRARIES) -> list[str]:
    """Those that are not installed."""
    return extras.absent(libraries)


def to_install(libraries: Collection[str] = LIBRARIES) -> str | None:
    """What is not installed and how to get it, as a sentence; None when all is there."""
    return extras.to_install(libraries, NAME)


def choose(voices: Mapping[str, VoiceInfo], requested: str | None, language: str) -> Choice:
    """An enrolled voice speaks every language of the model; one that it does not know is named."""
    voice = requested if requested is not None and requested in voices else min(voices)
    return voice, () if language in LANGUAGES else ("language",)


def _listed(store: VoiceStore) -> tuple[VoiceHeader, ...]:
    try:
        listing = store.list()
    except CosyVoiceError as error:
        log.warning("%s", error)
        return ()
    for problem in listing.problems:
        log.debug("%s", problem)  # `cosyvoiced voices list` shows it
    return listing.voices


def _info(header: VoiceHeader) -> VoiceInfo:
    others = (language for language in LANGUAGES if language != header.language)
    return VoiceInfo(
        name=header.name,
        engine=NAME,
        languages=(header.language, *others),
        gender=header.gender or "",
        description="enrolled",
    )
