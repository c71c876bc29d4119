"""An open stream to a sound device (player process only)."""

import time
from types import ModuleType
from typing import Any

from daemon.audio.protocol import OutputDevice
from daemon.audio.track import Samples, to_pcm

# The device's buffer: long enough to outlive a busy moment of a small board, short enough for a prompt stop.
LATENCY_S = 0.1
# A sound server may swallow seconds at once, and ALSA's `null` never blocks at all: the clock holds us back
# there, so that a stop is heard soon and a position means what it says.
AHEAD_S = 0.15
INVALID_SAMPLE_RATE = -9997  # paInvalidSampleRate in portaudio.h


class OutputError(Exception):
    """The device refused or broke; the message is one sentence for the user."""


class RateRefused(OutputError):
    """The device is there but does not play at this rate."""


class Output:
    """One stream, written to in blocks of mono samples.

    Blocking writes rather than a callback: playing, pausing and stopping stay plain code in one thread,
    no Python runs in the driver's real-time thread, and the sound starts after one period, where
    PortAudio's callback streams first play a whole buffer of silence.
    """

    def __init__(self, portaudio: ModuleType, device: OutputDevice, sample_rate_hz: int) -> None:
        self.sample_rate_hz = sample_rate_hz
        # PortAudio plays mono on the left channel alone where a card has only stereo, so both are filled.
        self.channels = min(2, device.channels)
        self.underruns = 0
        self._portaudio = portaudio
        self._device = device
        self._stream: Any = None
        self._heard_until_s = 0.0

    def open(self) -> None:
        """Opens and starts the stream. Raises `RateRefused` or another `OutputError`."""
        try:
            self._stream = self._portaudio.RawOutputStream(
                device=self._device.index,
                samplerate=self.sample_rate_hz,
                channels=self.channels,
                dtype="int16",
                latency=LATENCY_S,
            )
            self._stream.start()
        except self._portaudio.PortAudioError as error:
            self.close()
            kind = RateRefused if INVALID_SAMPLE_RATE in error.args else OutputError
            raise kind(f"the sound output {self._device.name!r} cannot be opened: {error}") from error

    @property
    def untouched(self) -> bool:
        """Whether nothing has been written yet."""
        return self._heard_until_s == 0.0

    @property
    def ahead_s(self) -> float:
        """How long the device can go on with what it was given."""
        return max(0.0, self._heard_until_s - time.monotonic())

    def write(self, samples: Samples, ahead_s: float = AHEAD_S) -> None:
        """Hands samples to the device; returns at most `ahead_s` before the last of them is heard.

        Raises:
            OutputError: the device broke.
        """
        # Where the device has run dry, or its clock is the slower one, what is written now is heard from now.
        self._heard_until_s = max(self._heard_until_s, time.monotonic()) + len(samples) / self.sample_rate_hz
        try:
            self.underruns += self._stream.write(to_pcm(samples, self.channels))
        except self._portaudio.PortAudioError as error:
            raise self._broken(error) from error
        time.sleep(max(0.0, self.ahead_s - ahead_s))

    def drain(self) -> None:
        """Returns when the last sample has been heard. Raises `OutputError`."""
        try:
            self._stream.stop()
        except self._portaudio.PortAudioError as error:
            raise self._broken(error) from error
        time.sleep(self.ahead_s)

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()

    def _broken(self, error: Exception) -> OutputError:
        return OutputError(f"the sound output {self._device.name!r} broke: {error}")
