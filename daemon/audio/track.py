"""The sound of one announcement on its way to the device (player process only)."""

import numpy as np
import numpy.typing as npt
import soxr

Samples = npt.NDArray[np.float32]  # mono, -1.0 to 1.0

FULL_SCALE = 32768.0
LIMITER_KNEE = 0.95


def gain_of(volume: int) -> float:
    """The factor for a volume of 0 to 100: cubic, as PulseAudio's, since loudness is heard that way.

    100 is unity, 50 is -18 dB, 0 is silence.
    """
    return float((volume / 100.0) ** 3)


def limit(samples: Samples) -> Samples:
    """Bends what is above the knee so that nothing passes full scale.

    No volume is above unity, so only the resampler's overshoot, a fraction of a dB, ever gets here:
    a knee without memory is enough, and everything below it is left bit for bit as it was.
    """
    level = np.abs(samples)
    if level.size == 0 or level.max() <= LIMITER_KNEE:
        return samples
    room = 1.0 - LIMITER_KNEE
    bent = np.sign(samples) * (LIMITER_KNEE + room * np.tanh((level - LIMITER_KNEE) / room))
    return np.where(level <= LIMITER_KNEE, samples, bent).astype(np.float32)


def to_pcm(samples: Samples, channels: int) -> bytes:
    """16-bit PCM with the same sound on every channel."""
    pcm = np.rint(limit(samples) * FULL_SCALE).clip(-FULL_SCALE, FULL_SCALE - 1).astype("<i2")
    return np.repeat(pcm, channels).tobytes()


class Track:
    """Takes PCM at the announcement's rate and gives samples at the device's rate, scaled by the volume."""

    def __init__(self, sample_rate_hz: int, output_rate_hz: int, volume: int) -> None:
        self.output_rate_hz = output_rate_hz
        self._gain = np.float32(gain_of(volume) / FULL_SCALE)
        self._resampler = (
            soxr.ResampleStream(sample_rate_hz, output_rate_hz, 1, dtype="float32")
            if sample_rate_hz != output_rate_hz
            else None
        )
        self._waiting: Samples = np.zeros(0, np.float32)
        self._odd_byte = b""

    def __len__(self) -> int:
        """Samples that can be taken now."""
        return len(self._waiting)

    def add(self, pcm: bytes) -> None:
        """Appends a piece; a sample may be cut in two between pieces."""
        pcm = self._odd_byte + pcm
        whole = len(pcm) - len(pcm) % 2
        self._odd_byte = pcm[whole:]
        self._append(np.frombuffer(pcm[:whole], "<i2") * self._gain, last=False)

    def end(self) -> None:
        """Gives out what the resampler still holds back."""
        if self._resampler is not None:
            self._append(np.zeros(0, np.float32), last=True)

    def take(self, count: int) -> Samples:
        """The next samples, at most `count`."""
        taken, self._waiting = self._waiting[:count], self._waiting[count:]
        return taken

    def faded(self, count: int) -> Samples:
        """The next samples, at most `count`, fading to silence; they stay where they are."""
        ahead = self._waiting[:count]
        return ahead * ramp(len(ahead))[::-1]

    def _append(self, samples: Samples, *, last: bool) -> None:
        if self._resampler is not None:
            samples = self._resampler.resample_chunk(samples, last=last)
        self._waiting = np.concatenate([self._waiting, samples])


def ramp(count: int) -> Samples:
    """Rises from near 0 to near 1 along half a cosine, which has no corner that could be heard."""
    phase = (np.arange(count, dtype=np.float32) + 0.5) / max(count, 1)
    return (0.5 - 0.5 * np.cos(np.pi * phase)).astype(np.float32)
