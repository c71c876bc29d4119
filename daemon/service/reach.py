"""Whether a service of another user can run this program where it lies."""

import stat
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

# What ProtectHome= and PrivateTmp= of the system unit hide.
HIDDEN = tuple(Path(folder) for folder in ("/home", "/root", "/run/user", "/tmp", "/var/tmp"))  # noqa: S108


class Obstacle(NamedTuple):
    """What keeps the service from reading the program."""

    path: Path
    reason: str  # why it cannot read this path


def obstacle(paths: Iterable[Path], hidden: Iterable[Path] = HIDDEN) -> Obstacle | None:
    """The first obstacle on the way to any of these files and folders."""
    hidden = [place for folder in hidden for place in (folder, folder.resolve())]
    # Both ends of a link count: a virtual environment's Python is a link to the system's.
    ways = [way for path in paths for way in (path, path.resolve())]
    found = [*(_hidden(way, hidden) for way in ways), *(_closed(way) for way in ways)]
    return next((obstacle for obstacle in found if obstacle is not None), None)


def _hidden(path: Path, hidden: Iterable[Path]) -> Obstacle | None:
    folder = next((folder for folder in hidden if path.is_relative_to(folder)), None)
    return Obstacle(path, f"is below {folder}, which the service does not see") if folder else None


def _closed(path: Path) -> Obstacle | None:
    """Tells of the first folder on the way, or of the path itself, that is not open to everybody."""
    for step in (*reversed(path.parents), path):
        try:
            mode = step.stat().st_mode
        except OSError as error:
            return Obstacle(step, f"cannot be looked at ({error.strerror})")
        needed = (stat.S_IXOTH if stat.S_ISDIR(mode) else 0) | (stat.S_IROTH if step == path else 0)
        if mode & needed != needed:
            return Obstacle(step, f"is not open to other users (mode {stat.S_IMODE(mode):04o})")
    return None
