"""The WAV files that results name."""

import re
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from daemon.storage.disk import check_room
from daemon.storage.folders import make_folder

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_MAX_NAME_ID = 40
_MAX_REMEMBERED = 4096  # under 1 MB; six announcements a second for outputs.keep_recent_s as shipped


class Outputs:
    """Names for the files of one folder; whatever an id says, a name stays inside it."""

    def __init__(
        self, folder: Path, min_free_bytes: int = 0, monotonic_s: Callable[[], float] = time.monotonic
    ) -> None:
        self.folder = folder
        self._min_free_bytes = min_free_bytes
        self._monotonic_s = monotonic_s
        self._named: deque[tuple[float, str]] = deque(maxlen=_MAX_REMEMBERED)

    def start(self) -> None:
        """Raises `StorageError`."""
        make_folder(self.folder, "outputs.path", 0o755)

    def check_room(self) -> None:
        """Raises `AnnouncementError` (disk_full) while no new file may be written."""
        check_room(self.folder, self._min_free_bytes)

    def path_for(self, job_id: str, seq: int, wall_s: float) -> Path:
        """`20261130-080500-ID-SEQ.wav`: sorted by time, unique by the journal's number."""
        safe_id = _UNSAFE.sub("-", job_id).strip("-")[:_MAX_NAME_ID] or "job"
        moment = time.strftime("%Y%m%d-%H%M%S", time.localtime(wall_s))
        path = self.folder / f"{moment}-{safe_id}-{seq}.wav"
        self._named.append((self._monotonic_s(), path.name))
        return path

    def recent(self, keep_s: float) -> set[Path]:
        """What was named within the last `keep_s`, whatever the wall clock did; forgets what is older."""
        oldest_s = self._monotonic_s() - keep_s
        while self._named and self._named[0][0] < oldest_s:
            self._named.popleft()
        return {self.folder / name for _, name in self._named}
