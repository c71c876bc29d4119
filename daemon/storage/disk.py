"""Room on the disk for new files."""

from pathlib import Path

from daemon.errors import AnnouncementError, Code
from daemon.watch.sensors import disk_free_bytes

MIB = 2**20


def check_room(folder: Path, min_free_bytes: int) -> None:
    """Raises `AnnouncementError` (disk_full): so little is free that no new file may take of it."""
    free_bytes = disk_free_bytes(folder)
    if free_bytes is not None and free_bytes < min_free_bytes:
        raise AnnouncementError(
            Code.DISK_FULL,
            f"{free_bytes // MIB} MiB are free at {folder}; new files need {min_free_bytes // MIB}",
        )
