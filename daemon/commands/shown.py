"""How commands show files, sizes and times to people, whatever names and dates there are."""

import time

from daemon.mqtt.messages import timestamp

UNKNOWN = "unknown"


def printable(name: str) -> str:
    """A name that a terminal can show: what would move the cursor, or is not UTF-8, is escaped."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in name)


def size(size_bytes: int) -> str:
    if size_bytes < 2**10:
        return f"{size_bytes} B"
    return f"{size_bytes / 2**10:.0f} KiB" if size_bytes < 2**20 else f"{size_bytes / 2**20:.1f} MiB"


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def amount(count: int, total_bytes: int, noun: str = "file") -> str:
    """`3 files, 1.5 MiB`."""
    return f"{counted(count, noun)}, {size(total_bytes)}"


def local_time(wall_s: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(wall_s))
    except (OverflowError, ValueError, OSError):  # no calendar goes so far
        return UNKNOWN


def utc_time(wall_s: float) -> str | None:
    """As `at` in results; None for a date that no calendar has."""
    try:
        return timestamp(wall_s)
    except (OverflowError, ValueError, OSError):
        return None
