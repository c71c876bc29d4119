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
        self._written_frames = 0
        self._clock_start_s = 0.0

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
            kind = RateRefused if INVALID_SAMPLE_RATE in error.args else OutputError
            raise kind(f"the sound output {self._device.name!r} cannot be opened: {error}") from error
        self._clock_start_s = time.monotonic()

    @property
    def untouched(self) -> bool:
        """Whether nothing has been written yet."""
        return self._written_frames == 0

    def write(self, samples: Samples, ahead_s: float = AHEAD_S) -> None:
        """Hands samples to the device; returns at most `ahead_s` before the last of them is heard.

        Raises:
            OutputError: the device broke.
        """
        try:
            self.underruns += self._stream.write(to_pcm(samples, self.channels))
        except self._portaudio.PortAudioError as error:
            raise self._broken(error) from error
        self._written_frames += len(samples)
        self._hold_back(ahead_s)

    def drain(self) -> None:
        """Returns when the last sample has been heard. Raises `OutputError`."""
        try:
            self._stream.stop()
        except self._portaudio.PortAudioError as error:
            raise self._broken(error) from error
        self._hold_back(0.0)

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()

    def _hold_back(self, allowed_s: float) -> None:
        ahead_s = self._clock_start_s + self._written_frames / self.sample_rate_hz - time.monotonic()
        if ahead_s < 0:  # the device has run dry, or its clock is the slower one: count from here
            self._clock_start_s -= ahead_s
        elif ahead_s > allowed_s:
            time.sleep(ahead_s - allowed_s)

    def _broken(self, error: Exception) -> OutputError:
        return OutputError(f"the sound output {self._device.name!r} broke: {error}")
