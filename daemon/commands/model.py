"""`cosyvoiced model`: makes, checks and shows the folder that CosyVoice3 speaks from.

PyTorch is imported where it is needed: the daemon's own modules never load it.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import msgspec

from cosyvoice.weights import kernel_choice, manifest
from cosyvoice.weights.kernel_choice import KernelChoice
from daemon import __version__, configfile
from daemon import config as options
from daemon.commands.progress import ProgressBar
from daemon.config import Config
from daemon.errors import CosyvoicedError
from daemon.synthesis import engines
from daemon.synthesis.cosyvoice3 import facts


def prepare(config_path: Path, source: Path, to: Path | None, threads: int | None, *, enrolment: bool) -> int:
    """0, or raises `CosyvoicedError` or `CosyVoiceError`."""
    _need_libraries()
    import torch

    from cosyvoice.weights import convert

    config = _config(config_path, needed=to is None)
    folder = to or _folder(config)
    threads = _threads(config, threads)
    torch.set_num_threads(threads)
    with ProgressBar(sys.stdout) as bar:
        made = convert.prepare(source, folder, enrolment=enrolment, version=__version__, progress=bar.show)
    print(f"{made.model} is prepared in {folder}")
    return _tune(folder, made, threads)


def tune(config_path: Path, folder: Path | None, threads: int | None) -> int:
    """0, or raises `CosyvoicedError` or `CosyVoiceError`."""
    _need_libraries()
    config = _config(config_path, needed=folder is None)
    folder = folder or _folder(config)
    return _tune(folder, manifest.read(folder), _threads(config, threads))


def verify(config_path: Path, folder: Path | None) -> int:
    """A prepared folder to the last byte, or a published one as `prepare` would.

    Raises:
        CosyvoicedError, CosyVoiceError: what is wrong with it.
    """
    _need_libraries()
    from cosyvoice.weights import published
    from cosyvoice.weights import verify as verification

    folder = folder or _folder(_config(config_path, needed=True))
    if folder.is_dir() and not manifest.exists(folder) and any(folder.glob("*.pt")):
        published.open_folder(folder, enrolment=True)
        print(f"{folder} is complete: cosyvoiced model prepare '{folder}'")
        return 0
    with ProgressBar(sys.stdout) as bar:
        found = verification.verify(folder, bar.show)
    print(f"{folder}: all {len(found.files)} files are well")
    return 0


def info(config_path: Path, folder: Path | None, *, as_json: bool) -> int:
    """0, or raises `CosyvoicedError` or `CosyVoiceError`."""
    config = _config(config_path, needed=folder is None)
    folder = folder or _folder(config)
    found = manifest.read(folder)
    kernels = kernel_choice.read(folder)
    fit = kernels is not None and not kernel_choice.is_stale(kernels, _threads(config, None))
    shown = {
        "model": found.model,
        "folder": str(folder.absolute()),
        "size_bytes": sum(file.bytes for file in found.files.values()),
        "sources": found.sources,
        "can_add_voices": found.can_enrol,
        "created": found.created,
        "version": found.version,
        "fingerprint": found.fingerprint,
        "kernels": msgspec.to_builtins(kernels),
        "kernels_fit": fit,
    }
    print(json.dumps(shown, ensure_ascii=False, indent=2) if as_json else _table(shown, kernels, fit=fit))
    return 0


def _table(shown: dict[str, Any], kernels: KernelChoice | None, *, fit: bool) -> str:
    checkpoints = ", ".join(name for name in shown["sources"] if name.endswith(".pt"))
    lines = [
        f"model        {shown['model']}, made of {checkpoints}",
        f"folder       {shown['folder']}, {shown['size_bytes'] / 1e9:.2f} GB",
        f"prepared     {shown['created']} by cosyvoiced {shown['version']}",
        f"fingerprint  {shown['fingerprint']}",
        f"voices       {'can be added' if shown['can_add_voices'] else 'cannot be added (--no-enrolment)'}",
    ]
    if kernels is None:
        return "\n".join([*lines, f"kernels      not measured yet: {kernel_choice.TUNE}"])
    for network, chosen in kernels.kernels.items():
        pairs = ", ".join(f"{shape} {kernel}" for shape, kernel in chosen.items())
        lines.append(f"kernels      {network}: {pairs}")
    otherwise = "" if fit else f"; it is not like this here now: {kernel_choice.TUNE}"
    lines.append(f"measured     on {kernels.machine} with {kernels.threads} threads{otherwise}")
    return "\n".join(lines)


def random(folder: Path, size: str, seed: int) -> int:
    """0, or raises `CosyvoicedError` or `CosyVoiceError`."""
    _need_libraries()
    from cosyvoice.weights import random_model

    random_model.write(folder, size, seed)
    print(f"{folder} holds random weights, which speak nonsense: cosyvoiced model prepare '{folder}'")
    return 0


def _tune(folder: Path, found: manifest.Manifest, threads: int) -> int:
    from cosyvoice.weights import tune as measuring

    print(f"measuring the kernels with {threads} threads...", flush=True)
    choice = measuring.tune(found.config, threads)
    try:
        kernel_choice.write(folder, choice)
    except OSError as error:
        raise CosyvoicedError(f"{folder} cannot be written: {error.strerror}") from error
    used = sorted({kernel for chosen in choice.kernels.values() for kernel in chosen.values()})
    print(f"fastest on {choice.machine}: {', '.join(used)}")
    return 0


def _need_libraries() -> None:
    if (sentence := facts.to_install()) is not None:
        raise CosyvoicedError(sentence)


def _config(path: Path, *, needed: bool) -> Config:
    """Where everything is named on the command line, there need not be a file."""
    return configfile.load(path, ready=False) if needed or path.exists() else Config()


def _folder(config: Config) -> Path:
    return options.model_dir(config, options.state_dir(config, dict(os.environ)))


def _threads(config: Config, named: int | None) -> int:
    """As many as the worker will have."""
    if named is not None and named < 1:
        raise CosyvoicedError("--threads must be at least 1")
    return named or engines.threads(config)
