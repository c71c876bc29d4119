"""Builds a folder under a name that is always whole: the old one, or the new one, never half of it."""

import contextlib
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from cosyvoice import folders
from cosyvoice.errors import ModelError
from cosyvoice.weights import manifest

_SPARE_BYTES = 64 * 2**20  # so that the disk is not full to the brim afterwards


@contextlib.contextmanager
def atomic_folder(target: Path) -> Iterator[Path]:
    """A folder beside `target` to write into, which becomes `target` when all went well.

    Raises:
        ModelError: `target` holds something else, cannot be written, or is being made by another process.
    """
    target = target.absolute()
    partial, old = (target.with_name(f".{target.name}.{end}") for end in ("partial", "old"))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _alone_in(target.parent):
            if old.exists() and not target.exists():  # the power failed between the two renames below
                old.rename(target)
            _check_target(target)
            for left_over in (partial, old):
                shutil.rmtree(left_over, ignore_errors=True)
            partial.mkdir()
            try:
                yield partial
                for folder in (partial, *(path for path in partial.rglob("*") if path.is_dir())):
                    folders.sync(folder)
            except BaseException:
                shutil.rmtree(partial, ignore_errors=True)
                raise
            if target.exists():
                target.rename(old)
            partial.rename(target)
            folders.sync(target.parent)
            shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise ModelError([f"{error.filename or target} cannot be written: {error.strerror}"]) from error


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ModelError([f"another process is making a model in {folder} right now"]) from error
        yield
    finally:
        os.close(descriptor)


def _check_target(target: Path) -> None:
    if not target.exists() or manifest.exists(target):
        return
    if not target.is_dir() or any(target.iterdir()):
        raise ModelError([f"{target} holds something else than a prepared model; choose another with --to"])


def check_disk(folder: Path, needed_bytes: int) -> None:
    """Raises `ModelError` when the folder's disk has less room."""
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < needed_bytes + _SPARE_BYTES:
        free, needed = (f"{size / 1e9:.1f} GB" for size in (free_bytes, needed_bytes + _SPARE_BYTES))
        raise ModelError([f"{folder.parent} has {free} free, and {needed} are needed"])


def link_or_copy(source: Path, target: Path) -> None:
    """A hard link takes no space; where the file system has none, a copy. Raises `OSError`."""
    target.parent.mkdir(exist_ok=True)
    source = source.resolve()  # download caches hold symbolic links
    try:
        target.hardlink_to(source)
    except OSError:  # another file system, or one without links
        shutil.copyfile(source, target)
        with target.open("rb") as file:
            os.fsync(file.fileno())


def write_text(path: Path, text: bytes) -> None:
    """Waits until the disk has it. Raises `OSError`."""
    with path.open("wb") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def sha256(path: Path) -> str:
    """Raises `OSError`."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
