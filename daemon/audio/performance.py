"""One announcement from the first sample of its lead-in to the last of its tail (player process only)."""

import threading
import time
from collections import deque
from collections.abc import Callable

import numpy as np

from daemon.audio.output import AHEAD_S, Output
from daemon.audio.protocol import Began, Finished, Play, PlayerMessage, Playing, Stopped
from daemon.audio.track import Samples, Track, ramp

BLOCK_S = 0.02  # how soon a stop or a pause is noticed
PAUSE_FADE_S = 0.06  # long enough not to click, short enough to feel immediate
UNDERRUN_FADE_S = 0.005  # held back until more comes, so that running dry never cuts a wave
HEARTBEAT_S = 0.5
WAITING_AHEAD_S = 0.04  # silence while waiting stands before the sound that may come any moment


class Announcement:
    """What the daemon has asked for so far. The main thread writes it, the playback thread reads it.

    Every field is changed by one atomic operation, so the two need no lock; `news` is set after each.
    """

    def __init__(self, play: Play) -> None:
        self.play = play
        self.pieces: deque[bytes] = deque()
        self.ended = False  # set after the last piece was appended
        self.paused = False
        self.stop_fade_s: float | None = None
        self.news = threading.Event()


class Performance:
    """Plays one announcement on an open output and tells how it goes."""

    def __init__(
        self, announcement: Announcement, output: Output, send: Callable[[PlayerMessage], None]
    ) -> None:
        self._announcement = announcement
        self._play = announcement.play
        self._output = output
        self._send = send
        self._track = Track(self._play.sample_rate_hz, output.sample_rate_hz, self._play.volume)
        self._drained = False  # all pieces are in the track, the resampler's rest too
        self._sounding = False  # the block before this one was sound at full level
        self._began = False
        self._sound_frames = 0
        self._underruns = 0
        self._heartbeat_due_s = 0.0

    def run(self, lead_in_s: float) -> None:
        """Returns when the last sample has been heard, or the fade of a stop. Raises `OutputError`."""
        self._silence(lead_in_s)
        while not self._stopped and self._next_block():
            pass
        if self._stopped:
            self._fade_out(self._announcement.stop_fade_s or 0.0)
        else:
            self._silence(self._play.tail_s)
        self._output.drain()
        self._send(self._outcome())

    def _next_block(self) -> bool:
        """Plays a block of sound, or of silence while paused or waiting; False when all sound is played."""
        block = self._frames(BLOCK_S)
        ready = self._fill(block + self._frames(UNDERRUN_FADE_S))
        if ready and not len(self._track):
            return False
        if self._announcement.paused:
            self._hold(PAUSE_FADE_S)
        elif not ready and (self._output.untouched or self._output.ahead_s > WAITING_AHEAD_S):
            self._wait()  # no silence before it is needed
        elif not ready:
            self._underruns += self._sounding
            self._hold(UNDERRUN_FADE_S)
        else:
            self._sound(block)
        return True

    def _sound(self, frames: int) -> None:
        samples = self._track.take(frames)
        if self._began and not self._sounding:
            rising = min(self._frames(UNDERRUN_FADE_S), len(samples))
            samples = np.concatenate([samples[:rising] * ramp(rising), samples[rising:]])
        self._sounding = True
        self._sound_frames += len(samples)
        self._write(samples)
        if not self._began:
            self._began = True
            self._send(Began(self._play.announcement, time.monotonic()))

    def _hold(self, fade_s: float) -> None:
        """A fade to silence, then silence; what was faded is played again when the sound goes on."""
        if self._sounding:
            self._fade_out(fade_s)
        else:
            self._write(_silent(self._frames(BLOCK_S)), WAITING_AHEAD_S)

    def _wait(self) -> None:
        self._announcement.news.wait(BLOCK_S)
        self._announcement.news.clear()
        self._tell_progress()

    def _fade_out(self, fade_s: float) -> None:
        if self._sounding:
            self._fill(self._frames(fade_s))
            faded, block = self._track.faded(self._frames(fade_s)), self._frames(BLOCK_S)
            for start in range(0, len(faded), block):
                self._write(faded[start : start + block])
        self._sounding = False

    def _silence(self, duration_s: float) -> None:
        left = self._frames(duration_s)
        while left > 0 and not self._stopped:
            frames = min(left, self._frames(BLOCK_S))
            self._write(_silent(frames))
            left -= frames

    def _fill(self, frames: int) -> bool:
        """Moves pieces to the track until it holds `frames`; True when it does, or when no more will come."""
        while len(self._track) < frames and not self._drained:
            ended = self._announcement.ended  # read first: a piece may come between the two looks
            if self._announcement.pieces:
                self._track.add(self._announcement.pieces.popleft())
            elif ended:
                self._track.end()
                self._drained = True
            else:
                return False
        return True

    def _write(self, samples: Samples, ahead_s: float = AHEAD_S) -> None:
        self._output.write(samples, ahead_s)
        self._tell_progress()

    def _tell_progress(self) -> None:
        now_s = time.monotonic()
        if now_s >= self._heartbeat_due_s:
            self._heartbeat_due_s = now_s + HEARTBEAT_S
            self._send(Playing(self._play.announcement, self._position_s))

    def _outcome(self) -> PlayerMessage:
        if self._stopped:
            return Stopped(self._play.announcement, self._position_s)
        return Finished(self._play.announcement, self._position_s, self._underruns, self._output.underruns)

    def _frames(self, duration_s: float) -> int:
        return round(duration_s * self._output.sample_rate_hz)

    @property
    def _position_s(self) -> float:
        return self._sound_frames / self._output.sample_rate_hz

    @property
    def _stopped(self) -> bool:
        return self._announcement.stop_fade_s is not None


def _silent(frames: int) -> Samples:
    return np.zeros(frames, np.float32)
