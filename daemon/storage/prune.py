"""Which files go first: a pure choice, and the loop that carries it out."""

import logging
import os
import re
import time
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from daemon.config import Store
from daemon.storage.disk import MIB

log = logging.getLogger(__name__)

DAY_S = 86400.0
_LEFTOVER_AGE_S = 3600.0  # a temporary file this old belongs to a run that was killed
_BUSY_LEFTOVER_AGE_S = DAY_S  # or to an announcement on hold, or the clock jumped: as long as one may wait
_FALSE_DATE_S = (
    DAY_S  # a date further ahead was false from the first: a running clock is not set back by more
)
_SIDECAR = re.compile(r"[0-9a-f]{64}\.json")  # `phrases.key` is a SHA-256; other people's JSON is left alone


class Stored(NamedTuple):
    path: Path
    bytes: int
    used_wall_s: float  # last time it was made or used


class Failure(NamedTuple):
    path: Path  # a file, or the folder itself
    reason: str


class Contents(NamedTuple):
    """The regular files right in a folder; links, folders and devices are none of them."""

    files: list[Stored]
    failures: list[Failure]  # there, but damaged beyond what `stat` can tell

    @property
    def wavs(self) -> list[Stored]:
        return [file for file in self.files if file.path.name.endswith(".wav")]


class Pruned(NamedTuple):
    """What became of a folder; in a dry run, what would."""

    kept: list[Stored]  # the WAV files that stay
    removed: list[Stored]  # WAV files, and what killed runs left behind
    failures: list[Failure]

    @property
    def kept_bytes(self) -> int:
        return sum(file.bytes for file in self.kept)

    @property
    def freed_bytes(self) -> int:
        return sum(file.bytes for file in self.removed)


def choose(
    files: Iterable[Stored],
    limits: Store,
    now_wall_s: float,
    protected: Collection[Path] = (),
    short_bytes: int = 0,
) -> list[Stored]:
    """The files to delete, least recently used first, to keep a folder within its limits.

    `short_bytes` have to go in any case, and never what is `protected` or was used within `keep_recent_s`.
    A file of the future never goes by its age, which nobody knows, but by the other limits: first of all
    if its date is false for certain, last of all if the clock may just have been set back.
    """

    def by_use(file: Stored) -> tuple[bool, float]:
        return file.used_wall_s - now_wall_s <= _FALSE_DATE_S, file.used_wall_s

    queue = sorted(files, key=by_use)
    spared = frozenset(protected)
    total_bytes, count, freed_bytes = sum(file.bytes for file in queue), len(queue), 0
    doomed: list[Stored] = []
    for file in queue:
        if file.path in spared or is_recent(file, limits, now_wall_s):
            continue
        over = total_bytes > limits.max_mib * MIB or count > limits.max_files or freed_bytes < short_bytes
        if over or now_wall_s - file.used_wall_s > limits.max_age_days * DAY_S:
            doomed.append(file)
            total_bytes -= file.bytes
            freed_bytes += file.bytes
            count -= 1
    return doomed


def is_recent(file: Stored, limits: Store, now_wall_s: float) -> bool:
    """Whether it was used so lately, by its date, that it stays; also if that lies shortly ahead."""
    return abs(now_wall_s - file.used_wall_s) < limits.keep_recent_s


def choose_leftovers(files: Sequence[Stored], now_wall_s: float, *, busy: bool) -> list[Stored]:
    """Temporary files, and sidecars without their WAV, that nobody will finish any more.

    `busy`: something of this folder is in use, so that an old temporary file may still be written to.
    """
    names = {file.path.name for file in files}

    def is_leftover(file: Stored) -> bool:
        name, age_s = file.path.name, abs(now_wall_s - file.used_wall_s)
        if name.startswith(".") and name.endswith((".tmp", ".part")):
            return age_s > (_BUSY_LEFTOVER_AGE_S if busy else _LEFTOVER_AGE_S)
        orphan = _SIDECAR.fullmatch(name) is not None and f"{file.path.stem}.wav" not in names
        return orphan and age_s > _LEFTOVER_AGE_S

    return [file for file in files if is_leftover(file)]


def shortfall_bytes(free_bytes: int | None, wanted_mib: int) -> int:
    """How much has to go for `wanted_mib` to be free; nothing where the free space is unknown."""
    return 0 if free_bytes is None else max(0, wanted_mib * MIB - free_bytes)


def look(folder: Path) -> Contents:
    """What is in a folder; a missing one is empty. Raises `OSError`."""
    contents = Contents([], [])
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return contents
    for name in names:
        path = folder / name
        try:
            stat = path.lstat()
        except FileNotFoundError:  # somebody else deleted it meanwhile
            continue
        except OSError as error:
            contents.failures.append(Failure(path, _reason(error)))
            continue
        if S_ISREG(stat.st_mode):
            contents.files.append(Stored(path, stat.st_size, stat.st_mtime))
    return contents


def scan(folder: Path) -> list[Stored]:
    """The WAV files right in a folder. Raises `OSError`."""
    return look(folder).wavs


def sweep(
    folder: Path,
    limits: Store,
    *,
    protected: Collection[Path] = (),
    short_bytes: int = 0,
    dry_run: bool = False,
) -> Pruned:
    """Brings one folder within its limits; raises nothing, but tells what could not be done.

    What is used between the choice and its turn stays. A sidecar (`NAME.json`) goes after its WAV, so
    that a run cut off in between leaves no WAV that is described wrongly, and the space is free first.
    """
    now_wall_s = time.time()
    try:
        contents = look(folder)
    except OSError as error:
        return Pruned([], [], [Failure(folder, _reason(error))])
    doomed = choose(contents.wavs, limits, now_wall_s, protected, short_bytes)
    busy = any(path.parent == folder for path in protected)
    doomed += choose_leftovers(contents.files, now_wall_s, busy=busy)
    removed, failures = (doomed, []) if dry_run else _delete(doomed)
    gone = {file.path for file in removed}
    kept = [file for file in contents.wavs if file.path not in gone]
    return Pruned(kept, removed, contents.failures + failures)


def prune(
    folder: Path,
    limits: Store,
    *,
    protected: Collection[Path] = (),
    short_bytes: int = 0,
    dry_run: bool = False,
    known: Collection[Failure] = (),
) -> Pruned:
    """`sweep`, and a line in the log of what was done and what could not be.

    `known`: the failures of the last time, not worth another warning.
    """
    pruned = sweep(folder, limits, protected=protected, short_bytes=short_bytes, dry_run=dry_run)
    if pruned.removed and not dry_run:
        log.info("pruned %d files, %.1f MiB, from %s", len(pruned.removed), pruned.freed_bytes / MIB, folder)
    if pruned.failures:
        level = logging.DEBUG if set(pruned.failures) <= set(known) else logging.WARNING
        first, count = pruned.failures[0], len(pruned.failures)
        log.log(level, "%d files of %s cannot be pruned; %s: %s", count, folder, *first)
    return pruned


def _delete(doomed: list[Stored]) -> tuple[list[Stored], list[Failure]]:
    """What is gone, and what cannot be deleted."""
    removed, failures = [], []
    for file in doomed:
        try:
            if file.path.lstat().st_mtime != file.used_wall_s:
                continue
            file.path.unlink()
            removed.append(file)
            if file.path.name.endswith(".wav"):
                file.path.with_suffix(".json").unlink(missing_ok=True)
        except FileNotFoundError:  # somebody else deleted it meanwhile
            removed.append(file)
        except OSError as error:
            failures.append(Failure(file.path, _reason(error)))
    return removed, failures


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
