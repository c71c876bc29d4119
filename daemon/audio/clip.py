"""A finished sound file: the one thing that rendering and speaking share."""

from pathlib import Path

import msgspec


class AudioClip(msgspec.Struct, frozen=True, kw_only=True):
    """A whole 16-bit mono PCM WAV file."""

    path: Path
    sample_rate_hz: int
    duration_s: float
