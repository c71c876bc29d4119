"""Which files go first: a pure choice, and the loop that carries it out."""

import contextlib
import logging
import time
from collections.abc import Iterable
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from daemon.config import Store

log = logging.getLogger(__name__)

_DAY_S = 86400.0
_LEFTOVER_AGE_S = 3600.0  # a temporary file this old belongs to a run that was killed


class Stored(NamedTuple):
    path: Path
    bytes: int
    used_wall_s: float  # last time it was made or used


def choose(files: Iterable[Stored], limits: Store, now_wall_s: float) -> list[Stored]:
    """The files to delete, least recently used first, to keep a folder within its limits."""
    by_use = sorted(files, key=lambda file: file.used_wall_s)
    total_bytes = sum(file.bytes for file in by_use)
    count = len(by_use)
    doomed: list[Stored] = []
    for file in by_use:
        age_s = now_wall_s - file.used_wall_s
        over = total_bytes > limits.max_mib * 2**20 or count > limits.max_files
        if not over and age_s <= limits.max_age_days * _DAY_S:
            break
        if age_s < limits.keep_recent_s:
            continue
        doomed.append(file)
        total_bytes -= file.bytes
        count -= 1
    return doomed


def scan(folder: Path) -> list[Stored]:
    """The WAV files right in a folder. A missing folder is an empty one."""
    files = []
    for path in folder.glob("*.wav"):
        with contextlib.suppress(FileNotFoundError):  # somebody else deleted it meanwhile
            stat = path.lstat()
            if S_ISREG(stat.st_mode):
                files.append(Stored(path, stat.st_size, stat.st_mtime))
    return files


def prune(folder: Path, limits: Store) -> int:
    """Brings one folder within its limits; the bytes of what stays.

    A sidecar (`NAME.json`) goes with its WAV, and what a killed run left half written goes too.
    """
    now_wall_s = time.time()
    files = scan(folder)
    doomed = choose(files, limits, now_wall_s)
    for file in doomed:
        for path in (file.path, file.path.with_suffix(".json")):
            path.unlink(missing_ok=True)
    if doomed:
        log.info("pruned %d files from %s", len(doomed), folder)
    for leftover in (*folder.glob(".*.tmp"), *folder.glob(".*.part")):
        with contextlib.suppress(FileNotFoundError):  # it has just been finished
            if now_wall_s - leftover.stat().st_mtime > _LEFTOVER_AGE_S:
                leftover.unlink()
    return sum(file.bytes for file in files) - sum(file.bytes for file in doomed)
