"""What a check of a recording or a transcript found, in words for the person who made it."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "note", "problem"]


@dataclass(frozen=True)
class Finding:
    """One thing looked at; a problem keeps the voice from being added, a note does not."""

    check: str  # "length", "noise", ...
    level: Level
    what: str
    do: str | None = None  # one sentence; None where nothing needs to be done
