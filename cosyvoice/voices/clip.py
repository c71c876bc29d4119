"""A recording from a file that anyone may have made: WAV, FLAC, MP3 or OGG, read within bounds."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import soundfile

from cosyvoice.errors import VoiceError

Samples = npt.NDArray[np.float32]

MAX_DURATION_S = 60.0
MAX_FILE_BYTES = 64 * 2**20  # 60 s of 96 kHz stereo in 32 bits are 46 MB
MIN_SAMPLE_RATE_HZ = 16000  # the speaker encoder and the speech tokenizer listen up to 8 kHz
MAX_SAMPLE_RATE_HZ = 96000
MAX_CHANNELS = 2
FORMATS = ("WAV", "WAVEX", "RF64", "FLAC", "OGG", "MP3")  # as libsndfile names them; OGG is Vorbis or Opus

# A sine of 100 Hz stays this near to its top for half that time. Lossy codecs round flat tops, and hide some.
_FLAT_TOP_MARGIN, _FLAT_TOP_S, _FLAT_TOP_SAMPLES = 2e-4, 125e-6, 3
_FLAT_TOP_PEAK = 0.1  # below, equal samples are only coarse steps


@dataclass(frozen=True)
class Clip:
    """One recording: `samples` (N,) float32 mono, -1.0 to 1.0, without offset."""

    samples: Samples
    sample_rate_hz: int
    clipped: float  # the part of the samples that lie in flat tops, 0 to 1, in the worse channel

    @property
    def duration_s(self) -> float:
        return len(self.samples) / self.sample_rate_hz


def read(path: Path) -> Clip:
    """Reads a recording of at most `MAX_DURATION_S`.

    Raises:
        VoiceError: it cannot be read, or is nothing that a voice can be made of.
    """
    try:
        # A named pipe would block for ever without O_NONBLOCK; a regular file takes no notice of it.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            _check_file(file, path)
            channels, sample_rate_hz = _decode(file, path)
    except OSError as error:
        raise VoiceError([f"{path} cannot be read: {error.strerror}"]) from error
    if not len(channels):
        raise VoiceError([f"{path} holds no sound"])
    if not np.isfinite(channels).all():
        raise VoiceError([f"{path} is damaged: it holds samples that are no numbers"])
    samples = channels.mean(axis=1)  # (N,)
    clipped = max(flat_tops(channels[:, channel], sample_rate_hz) for channel in range(channels.shape[1]))
    return Clip(samples - samples.mean(), sample_rate_hz, clipped)


def flat_tops(samples: Samples, sample_rate_hz: int) -> float:
    """The part of the samples, 0 to 1, that stay at the peak for several samples: cut off by a converter.

    The peak need not be full scale: recordings are made softer after they were clipped.
    """
    peak = float(np.abs(samples).max(initial=0.0))
    if peak < _FLAT_TOP_PEAK:
        return 0.0
    at_top = np.abs(samples) >= peak * (1 - _FLAT_TOP_MARGIN)
    edges = np.flatnonzero(np.diff(at_top, prepend=False, append=False))
    lengths = edges[1::2] - edges[::2]
    least = max(_FLAT_TOP_SAMPLES, round(_FLAT_TOP_S * sample_rate_hz))
    return float(lengths[lengths >= least].sum() / len(samples))


def _check_file(file: BinaryIO, path: Path) -> None:
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode):
        raise VoiceError([f"{path} is no file"])
    if status.st_size > MAX_FILE_BYTES:
        raise VoiceError([f"{path} is too large: cut out 3 to 10 seconds of speech"])


def _decode(file: BinaryIO, path: Path) -> tuple[Samples, int]:
    """(N, channels) float32 and the sample rate. Raises `VoiceError`."""
    try:
        with soundfile.SoundFile(file) as sound:
            if sound.format not in FORMATS:
                raise VoiceError([f"{path} is {sound.format}: only WAV, FLAC, MP3 and OGG are read"])
            _check_format(sound.samplerate, sound.channels, path)
            limit = int(MAX_DURATION_S * sound.samplerate)
            channels = sound.read(limit + 1, dtype="float32", always_2d=True)
            if len(channels) > limit:
                raise VoiceError(
                    [f"{path} is longer than {MAX_DURATION_S:.0f} s: cut out 3 to 10 seconds of speech"]
                )
            return channels, sound.samplerate
    except soundfile.LibsndfileError as error:
        raise VoiceError(
            [
                f"{path} is no WAV, FLAC, MP3 or OGG, or damaged ({error.error_string.rstrip('.')});"
                f" most others become one by: ffmpeg -i '{path}' clip.wav"
            ]
        ) from error


def _check_format(sample_rate_hz: int, channels: int, path: Path) -> None:
    if sample_rate_hz < MIN_SAMPLE_RATE_HZ:
        raise VoiceError(
            [
                f"{path} has {sample_rate_hz} samples a second, which hold no sound above"
                f" {sample_rate_hz / 2000:g} kHz, and a voice needs it up to 8 kHz:"
                f" record with {MIN_SAMPLE_RATE_HZ} or more, not over a telephone"
            ]
        )
    if sample_rate_hz > MAX_SAMPLE_RATE_HZ or channels > MAX_CHANNELS:
        raise VoiceError(
            [f"{path} has {channels} channels of {sample_rate_hz} Hz: make it mono of 24000 to 48000 Hz"]
        )
