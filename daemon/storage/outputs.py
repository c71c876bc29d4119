"""The WAV files that results name."""

import re
import time
from pathlib import Path

from daemon.storage.folders import make_folder

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_MAX_NAME_ID = 40


class Outputs:
    """Names for the files of one folder; whatever an id says, a name stays inside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def start(self) -> None:
        """Raises `StorageError`."""
        make_folder(self.folder, "outputs.path", 0o755)

    def path_for(self, job_id: str, seq: int, wall_s: float) -> Path:
        """`20261130-080500-ID-SEQ.wav`: sorted by time, unique by the journal's number."""
        safe_id = _UNSAFE.sub("-", job_id).strip("-")[:_MAX_NAME_ID] or "job"
        moment = time.strftime("%Y%m%d-%H%M%S", time.localtime(wall_s))
        return self.folder / f"{moment}-{safe_id}-{seq}.wav"
