"""One daemon for one state folder."""

import contextlib
import fcntl
import os
from pathlib import Path
from typing import IO

from daemon.errors import CosyvoicedError
from daemon.storage.folders import make_folder


class AlreadyRunningError(CosyvoicedError):
    """Another daemon holds this state folder."""


class InstanceLock:
    """A lock that ends with the process, however that ends."""

    def __init__(self, state_dir: Path) -> None:
        self._path = state_dir / "lock"
        self._file: IO[str] | None = None

    def acquire(self) -> None:
        """Raises `AlreadyRunningError`, `StorageError`."""
        make_folder(self._path.parent, "state.path", 0o750)
        file = self._path.open("a+", encoding="ascii")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            pid = file.read().strip() or "unknown"
            file.close()
            raise AlreadyRunningError(
                f"a cosyvoiced (process {pid}) already uses {self._path.parent}; "
                "stop it, leave out --local, or set state.path"
            ) from error
        self._file = file
        with contextlib.suppress(OSError):  # a full disk: the lock holds without its owner's number
            os.ftruncate(file.fileno(), 0)
            os.write(file.fileno(), str(os.getpid()).encode())

    def release(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
