"""Files of the kernel: any of them may be absent, asleep, or hold something unexpected."""

import re
from pathlib import Path

_NUMBER = re.compile(r"-?[0-9]{1,19}")


def text(file: Path) -> str | None:
    """What a file says, without white space at its ends; None when it cannot be read."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip("\0 \t\n")
    except OSError:  # absent, not for this user, switched off, or a sensor that is asleep
        return None


def number(file: Path) -> int | None:
    """The whole number that a file consists of."""
    found = _NUMBER.fullmatch(text(file) or "")
    return int(found[0]) if found else None
