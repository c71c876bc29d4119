"""The folders that the daemon writes to."""

import errno
import os
from pathlib import Path

from daemon.errors import CosyvoicedError


class StorageError(CosyvoicedError):
    """A folder that the daemon needs cannot be written."""


def make_folder(folder: Path, option: str, mode: int) -> None:
    """Makes a folder, or sees that the one there can be written. Raises `StorageError`."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=mode)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise StorageError(f"the folder {folder} ({option}) cannot be written: {error.strerror}") from error


def write_whole(path: Path, content: bytes) -> None:
    """Replaces a small file so that a power cut leaves the old or the new one. Raises `OSError`."""
    temporary = path.with_name(f".{path.name}.tmp")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
