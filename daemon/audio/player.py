"""The player process: `python -m daemon.audio.player DEVICE`, spoken to over stdin and stdout.

PortAudio and numpy live here and not in the daemon: a device that hangs inside the sound library is
ended by killing this process, and a device that was plugged in later appears when it starts anew.
The main thread only reads messages, so it is never stuck in a device; the playback thread may be.
"""

import os
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from types import ModuleType

import msgspec

from daemon.audio.devices import NoDevice, choose, list_outputs, start_portaudio
from daemon.audio.output import Output, OutputError, RateRefused
from daemon.audio.performance import Announcement, Performance
from daemon.audio.protocol import (
    TO_PLAYER,
    Audio,
    End,
    Failed,
    Opened,
    OutputDevice,
    Pause,
    Ping,
    Play,
    PlayerMessage,
    PlayerReady,
    Pong,
    Resume,
    SpeakerMessage,
    Stop,
)
from daemon.children.frames import FrameError, Ready
from daemon.children.parent import Parent, ParentGone, claim_stdio

AWAKE_S = 2.0  # HDMI and Bluetooth sinks fall asleep some seconds after the last sound, not sooner
LAST_FADE_S = 0.06
LAST_FADE_DEADLINE_S = 0.5


class Player:
    """Plays announcements on one device, one after the other."""

    def __init__(
        self, portaudio: ModuleType, device: OutputDevice, send: Callable[[PlayerMessage], None]
    ) -> None:
        self._portaudio = portaudio
        self._device = device
        self._send = send
        self._refused_rates_hz: set[int] = set()
        self._last_sound_s = float("-inf")

    def perform_all(self, announcements: Iterable[Announcement | Ping]) -> None:
        for announcement in announcements:
            if isinstance(announcement, Ping):
                self._send(Pong())
                continue
            try:
                self._perform(announcement)
            except ParentGone:
                return
            except OutputError as error:
                self._send(Failed(announcement.play.announcement, str(error)))
            except Exception as error:  # noqa: BLE001 - the one catch-all of this thread: told, and on it goes
                traceback.print_exc()
                self._send(Failed(announcement.play.announcement, f"the player failed: {error!r}"))

    def _perform(self, announcement: Announcement) -> None:
        play = announcement.play
        output = self._open(play.sample_rate_hz)
        try:
            self._send(Opened(play.announcement, output.sample_rate_hz, output.channels))
            awake = time.monotonic() - self._last_sound_s < AWAKE_S
            Performance(announcement, output, self._send).run(0.0 if awake else play.lead_in_s)
            self._last_sound_s = time.monotonic()
        finally:
            output.close()

    def _open(self, sample_rate_hz: int) -> Output:
        if sample_rate_hz not in self._refused_rates_hz:
            output = Output(self._portaudio, self._device, sample_rate_hz)
            try:
                output.open()
            except RateRefused:
                self._refused_rates_hz.add(sample_rate_hz)
            else:
                return output
        output = Output(self._portaudio, self._device, self._device.sample_rate_hz)
        output.open()
        return output


def main() -> None:
    # The daemon ends us by closing our stdin, after a fade; a Ctrl-C or a stop of the whole process
    # group must not cut the sound before that.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    parent = claim_stdio(TO_PLAYER)
    send = parent.send
    wanted = sys.argv[1]
    outputs: list[OutputDevice] = []
    try:
        portaudio = start_portaudio(wanted)
        outputs, default_index = list_outputs(portaudio, wanted)
        device = choose(wanted, outputs, default_index)
    except NoDevice as error:
        send(_ready(PlayerReady(devices=tuple(outputs), problem=str(error))))
        return
    announcements: queue.SimpleQueue[Announcement | Ping | None] = queue.SimpleQueue()
    player = Player(portaudio, device, send)
    thread = threading.Thread(target=player.perform_all, args=(iter(announcements.get, None),), daemon=True)
    thread.start()
    send(_ready(PlayerReady(devices=tuple(outputs), chosen=device.name)))
    exit_code = 0
    try:
        _obey(parent, announcements)
    except FrameError:
        traceback.print_exc()
        exit_code = 1
    thread.join(LAST_FADE_DEADLINE_S)
    os._exit(exit_code)  # not sys.exit: PortAudio's own clean-up would wait for a device that hangs


def _obey(
    parent: Parent[SpeakerMessage], announcements: "queue.SimpleQueue[Announcement | Ping | None]"
) -> None:
    """Follows the daemon's messages until they end; then nothing is left to play. Raises `FrameError`."""
    current: Announcement | None = None
    try:
        while (message := parent.receive()) is not None:
            if isinstance(message, Play):
                current = Announcement(message)
                announcements.put(current)
            elif isinstance(message, Ping):
                announcements.put(message)
            elif current is not None and current.play.announcement == message.announcement:
                _apply(message, current)
    finally:
        if current is not None:
            _apply(Stop(current.play.announcement, LAST_FADE_S), current)
        announcements.put(None)


def _apply(message: Audio | End | Stop | Pause | Resume, announcement: Announcement) -> None:
    match message:
        case Audio(pcm=pcm):
            announcement.pieces.append(pcm)
        case End():
            announcement.ended = True
        case Pause():
            announcement.paused = True
        case Resume():
            announcement.paused = False
        case Stop(fade_s=fade_s):
            announcement.stop_fade_s = fade_s
    announcement.news.set()


def _ready(details: PlayerReady) -> Ready:
    return Ready(msgspec.to_builtins(details))


if __name__ == "__main__":
    main()
