"""Somebody else's WAV file, as bytes from outside: nothing in it is trusted.

Everything here takes its time; from the event loop, call it with `asyncio.to_thread`.
"""

import io
import struct
import wave
from array import array
from typing import NamedTuple

from daemon.audio.wav import SAMPLE_BYTES, WavError

MAX_BYTES = 4 * 2**20  # what the link takes in one message; 95 s of mono at 22050 Hz
MAX_CHANNELS = 2
RATES_HZ = (8000, 96_000)  # beyond these, resampling would make much of little


class GivenPcm(NamedTuple):
    """16-bit little-endian mono samples."""

    sample_rate_hz: int
    pcm: bytes

    @property
    def duration_s(self) -> float:
        return len(self.pcm) / SAMPLE_BYTES / self.sample_rate_hz


def decode(payload: bytes) -> GivenPcm:
    """The sound of a 16-bit PCM WAV file, mixed down to mono. Raises `WavError`."""
    if len(payload) > MAX_BYTES:
        raise WavError(f"the sound has {len(payload)} bytes, the limit is {MAX_BYTES}")
    try:
        with wave.open(io.BytesIO(payload)) as file:
            channels, width, rate_hz = file.getnchannels(), file.getsampwidth(), file.getframerate()
            # A header that was written before the length was known promises more than there is.
            pcm = file.readframes(len(payload))
    except (wave.Error, EOFError, RuntimeError, struct.error) as error:
        raise WavError(f"the sound is not a PCM WAV file: {error or 'it is cut short'}") from error
    if width != SAMPLE_BYTES or not 1 <= channels <= MAX_CHANNELS:
        raise WavError(f"the sound must be 16-bit mono or stereo, not {8 * width}-bit in {channels} channels")
    if not RATES_HZ[0] <= rate_hz <= RATES_HZ[1]:
        raise WavError(f"the sound must have {RATES_HZ[0]} to {RATES_HZ[1]} samples a second, not {rate_hz}")
    pcm = pcm[: len(pcm) // (width * channels) * width * channels]
    if not pcm:
        raise WavError("the sound is empty")
    return GivenPcm(rate_hz, pcm if channels == 1 else _mixed_down(pcm))


def _mixed_down(pcm: bytes) -> bytes:
    """The mean of left and right."""
    samples = array("h", pcm)
    left, right = samples[::2], samples[1::2]
    return array("h", [(one + other) >> 1 for one, other in zip(left, right, strict=True)]).tobytes()
