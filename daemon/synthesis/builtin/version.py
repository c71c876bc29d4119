"""The engine's version: it changes whenever the same request may give other samples."""

import hashlib
from functools import cache
from importlib import metadata, resources
from importlib.resources.abc import Traversable

from daemon.synthesis.builtin.model import MODEL_SHA256, variant

# What reads the text or makes the sound, apart from this repository; scipy is hibari's optional FFT.
PACKAGES = ("hibari-tts", "wetext", "pypinyin", "rjieba", "onnxruntime", "numpy", "scipy", "pyopenjtalk-plus")


@cache
def version() -> str:
    """A short digest of the models, the voice packs, this code, and the packages that shape the sound."""
    digest = hashlib.sha256(f"{MODEL_SHA256} {variant()}".encode())
    for package in PACKAGES:
        digest.update(f"{package} {_installed(package)}\n".encode())
    for folder in ("daemon.synthesis.builtin", "cosyvoice.text"):
        for name, content in sorted(_files(resources.files(folder))):
            digest.update(name.encode())
            digest.update(content)
    return digest.hexdigest()[:16]


def _installed(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "absent"


def _files(folder: Traversable) -> list[tuple[str, bytes]]:
    found = [(entry.name, entry.read_bytes()) for entry in folder.iterdir() if entry.is_file()]
    data = folder.joinpath("data")
    return found + (_files(data) if data.is_dir() else [])
