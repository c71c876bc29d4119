"""A small real file system that can be filled to its last byte."""

import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest


class SmallDisk:
    """A tmpfs of `mib` MiB, mounted while this context lasts; without root the test is skipped."""

    def __init__(self, folder: Path, mib: int) -> None:
        self.folder = folder
        self._mib = mib
        self._ballast = folder / "ballast"

    def __enter__(self) -> Self:
        self.folder.mkdir()
        mount = ("mount", "-t", "tmpfs", "-o", f"size={self._mib}m", "tmpfs", str(self.folder))
        if os.geteuid() != 0 or subprocess.run(mount, check=False).returncode:
            pytest.skip("mounting a small file system needs root")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        subprocess.run(["umount", "--lazy", str(self.folder)], check=True)

    def fill(self, but_bytes: int = 0) -> None:
        """Leaves `but_bytes` free."""
        with self._ballast.open("ab", buffering=0) as file:
            for block_bytes in (2**20, 2**12, 1):
                while self.free_bytes >= but_bytes + block_bytes:
                    try:
                        file.write(bytes(block_bytes))
                    except OSError:
                        break

    def empty(self) -> None:
        self._ballast.unlink()

    @property
    def free_bytes(self) -> int:
        stat = os.statvfs(self.folder)
        return stat.f_bavail * stat.f_frsize
