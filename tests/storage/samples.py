"""Files as the daemon writes them, and a user who may not delete them."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from daemon.audio.wav import WavWriter

RATE_HZ = 24000
NOBODY = 65534  # the user of that name in every Linux distribution


def a_wav(path: Path, duration_s: float = 1.0, age_s: float = 0.0) -> Path:
    with WavWriter(path, RATE_HZ) as writer:
        writer.write(bytes(2 * int(duration_s * RATE_HZ)))
        writer.finish()
    return aged(path, age_s)


def aged(path: Path, age_s: float) -> Path:
    os.utime(path, (time.time() - age_s,) * 2)
    return path


@contextmanager
def open_folder() -> Iterator[Path]:
    """A temporary folder that everybody may enter, as pytest's own is not."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def without_write_access(folder: Path) -> Iterator[None]:
    """The folder is somebody else's; root, who may do all, is nobody meanwhile."""
    user = os.geteuid()
    folder.chmod(0o555)
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)
        folder.chmod(0o755)
