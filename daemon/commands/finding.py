"""What `cosyvoiced doctor` tells of one part."""

from typing import Literal

import msgspec


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing looked at."""

    part: str
    level: Literal["ok", "note", "problem"]
    what: str
    do: str | None = None
