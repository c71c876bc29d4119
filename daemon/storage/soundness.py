"""Whether a WAV file is what it says it is: a power cut, a worn card or a user may have made it less."""

from pathlib import Path

from daemon.audio.clip import AudioClip
from daemon.audio.wav import SAMPLE_BYTES, WavError, open_clip

_HEADER_BYTES = 44  # RIFF, fmt and data: no WAV file has less


def whole_clip(path: Path) -> AudioClip:
    """What the file at `path` holds, to its last sample. Raises `WavError`, `OSError`."""
    clip = open_clip(path)
    pcm_bytes = SAMPLE_BYTES * round(clip.duration_s * clip.sample_rate_hz)
    if path.stat().st_size < _HEADER_BYTES + pcm_bytes:
        raise WavError(f"{path} is cut short")
    return clip
