"""The part of `cosyvoiced doctor` that looks at CosyVoice3: its libraries, its model, this machine."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from cosyvoice.errors import CosyVoiceError
from cosyvoice.weights import kernel_choice, manifest
from daemon import config as options
from daemon.commands.finding import Finding
from daemon.config import Config
from daemon.synthesis import cosyvoice3, engines
from daemon.synthesis.cosyvoice3 import facts
from daemon.watch import memory


def examine(config: Config) -> Iterator[Finding]:
    """What CosyVoice3 lacks is a problem where the configuration asks for it, and a note elsewhere."""
    state_dir = options.state_dir(config, dict(os.environ))
    folder = options.model_dir(config, state_dir)
    if absent := facts.absent():
        yield _lacking(config, f"cosyvoice3 lacks {', '.join(absent)}", facts.INSTALL)
        return
    if not manifest.exists(folder):
        do = "cosyvoiced model prepare DIR, see docs/model.md"
        yield _lacking(config, f"cosyvoice3 has no prepared model at {folder}", do)
        return
    try:
        found = manifest.read(folder)
        problems = manifest.misplaced(folder, found)
        kernels = kernel_choice.read(folder)
    except CosyVoiceError as error:
        yield Finding(part="model", level="problem", what=str(error))
        return
    if problems:
        yield from (
            Finding(part="model", level="problem", what=f"{folder}: {what}") for what in problems.values()
        )
        return
    yield Finding(part="model", level="ok", what=f"cosyvoice3 speaks from {folder} ({found.model})")
    yield from _voices(config, found, folder, state_dir)
    if kernels is None or kernel_choice.is_stale(kernels, engines.threads(config)):
        yield Finding(
            part="model",
            level="note",
            what="the kernels were not measured on this machine with so many threads",
            do="the next start measures them; or now: cosyvoiced model tune",
        )
    yield from _memory(config)


def _lacking(config: Config, what: str, do: str) -> Finding:
    return Finding(part="model", level=_level(config), what=what, do=do)


def _level(config: Config) -> Literal["note", "problem"]:
    return "problem" if config.engine == cosyvoice3.NAME else "note"


def _voices(config: Config, found: manifest.Manifest, folder: Path, state_dir: Path) -> Iterator[Finding]:
    engine = cosyvoice3.find(folder, options.voices_dir(state_dir), config.cosyvoice3.quality)
    if engine is not None and not engine.voices:
        yield _lacking(
            config, "cosyvoice3 has no voice yet", "cosyvoiced voices add NAME FILE, see docs/voices.md"
        )
    if not found.can_enrol:
        yield Finding(part="model", level="note", what="voices cannot be added: made with --no-enrolment")
    elif facts.absent(("soundfile",)):
        yield Finding(part="model", level="note", what="adding voices needs soundfile", do=facts.INSTALL)


def wanted_bytes(config: Config) -> int:
    """The free memory with which CosyVoice3 is loaded and not at once restrained again."""
    return facts.MEMORY_BYTES + config.watch.memory.warm_mib * 2**20


def _memory(config: Config) -> Iterator[Finding]:
    if config.engine == "builtin":
        return
    known = memory.read(Path(config.watch.root))
    wanted = wanted_bytes(config)
    else_builtin = f"cosyvoice3 wants {wanted // 2**20}, else the built-in engine speaks"
    if known.total_bytes is not None and known.total_bytes < wanted:
        what = f"this machine has {known.total_bytes // 2**20} MiB of memory; {else_builtin}"
        yield _lacking(config, what, "take a board with 4 GB or more, or set engine: builtin")
    elif known.available_bytes is not None and known.available_bytes < wanted:
        what = f"{known.available_bytes // 2**20} MiB are free; {else_builtin}"
        yield _lacking(config, what, "stop other programs")
