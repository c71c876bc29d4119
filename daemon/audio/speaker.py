"""The speaker: plays announcements through the player process, one at a time."""

import asyncio
import itertools
import logging
import time
from collections.abc import Mapping

import msgspec

from daemon.audio import chime
from daemon.audio.playback import Playback
from daemon.audio.protocol import FROM_PLAYER, OutputDevice, Ping, Play, PlayerMessage, PlayerReady, Pong
from daemon.children.child import Child, ChildError
from daemon.errors import AnnouncementError, Code

log = logging.getLogger(__name__)

NONE = "none"
AUTO = "auto"
# Python, numpy and PortAudio's look at every device, from a cold SD card.
START_DEADLINE_S = 15.0
# A look costs up to a second of a small board's time.
LOOK_AGAIN_S = 30.0
# The player tells of itself every half second, from opening to draining, while the device takes samples.
HANG_DEADLINE_S = 5.0
# One thread is enough for adding samples; OpenBLAS would set buffers aside for one per core.
PLAYER_ENV = {"OPENBLAS_NUM_THREADS": "1"}


class Speaker:
    """Owns the player process. `device` is `auto`, `none`, an ALSA name, or a part of a device's name."""

    def __init__(
        self,
        device: str = AUTO,
        *,
        lead_in_s: float = 0.0,
        tail_s: float = 0.0,
        hang_deadline_s: float = HANG_DEADLINE_S,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.device = device
        self.lead_in_s = lead_in_s
        self.tail_s = tail_s
        self.hang_deadline_s = hang_deadline_s
        self._env = {**PLAYER_ENV, **(env or {})}
        self._child = self._new_child()
        self._problem = ""
        self._looked_at_s = float("-inf")
        self._started = False
        self._turn = asyncio.Lock()
        self._numbers = itertools.count(1)
        self._playback: Playback | None = None

    @property
    def available(self) -> bool:
        """False where announcements are to go to files only: `none`, or `auto` on a machine without output.

        A device that was named and is missing is not that: each announcement then fails with the reason.
        """
        return self.device != NONE and not (self.device == AUTO and self._problem)

    @property
    def problem(self) -> str:
        """One sentence on what is wrong with the device; empty when all is well."""
        return "the speaker is turned off" if self.device == NONE else self._problem

    @property
    def rss_bytes(self) -> int:
        return self._child.rss_bytes

    async def start(self) -> None:
        """Looks for the device; whether it is there, `available` and `problem` tell."""
        self._started = True
        if self.device != NONE:
            await self._look()

    async def stop(self) -> None:
        """Fades out what plays, refuses what waits, and ends the player process."""
        self._started = False
        if self._playback is not None:
            await self._playback.stop()
        async with self._turn:
            await self._child.stop()

    async def look_again(self) -> bool:
        """As `available`, but looks for new devices where there was none, at most every `LOOK_AGAIN_S`."""
        async with self._turn:
            due = time.monotonic() - self._looked_at_s > LOOK_AGAIN_S
            if self._started and self.device == AUTO and self._problem and due:
                await self._look()
        return self.available

    async def play(
        self,
        *,
        sample_rate_hz: int,
        volume: int = 100,
        chime_name: str | None = None,
        lead_in_s: float | None = None,
        tail_s: float | None = None,
    ) -> Playback:
        """Opens the device, after the announcement before has ended; the chime, if any, begins at once.

        Raises:
            AnnouncementError: the device is missing, refuses, or hangs (the next announcement tries anew),
                or the speaker was stopped.
        """
        play = Play(
            next(self._numbers),
            sample_rate_hz,
            volume,
            self.lead_in_s if lead_in_s is None else lead_in_s,
            self.tail_s if tail_s is None else tail_s,
        )
        chime_pcm = await asyncio.to_thread(chime.pcm, chime_name, sample_rate_hz) if chime_name else b""
        async with self._turn:
            if self._playback is not None:
                await self._playback.over()
            if not self._started:
                raise AnnouncementError(Code.SHUTTING_DOWN, "the speaker has been stopped")
            if not self._child.alive:
                await self._look()
            if self.problem:
                raise AnnouncementError(Code.AUDIO_DEVICE, self.problem)
            self._playback = Playback(self._child, play, self.hang_deadline_s)
            await self._playback.open()
        await self._playback.write(chime_pcm)
        return self._playback

    async def ping(self, deadline_s: float) -> None:
        """Sees that the player is there. While it plays, the playback itself watches over it.

        Raises:
            ChildError: it does not answer; it was killed, and the next announcement starts a new one.
        """
        if self._turn.locked():  # somebody opens the device, or waits to
            return
        async with self._turn:
            playing = self._playback is not None and not self._playback.is_over
            if playing or not self._child.alive:
                return
            try:
                await self._child.send(Ping(), deadline_s)
                answer = await self._child.receive(deadline_s)
                if not isinstance(answer, Pong):
                    raise ChildError(f"the player sent {type(answer).__name__} in answer to a ping")
            except ChildError:
                await self._child.kill()
                raise

    async def devices(self) -> tuple[OutputDevice, ...]:
        """All sound outputs of this machine now. Raises `ChildError`."""
        child = self._new_child()
        try:
            ready = await child.start(START_DEADLINE_S)
        finally:
            await child.stop()
        return msgspec.convert(ready.details, PlayerReady).devices

    async def _look(self) -> None:
        """(Re)starts the player, which lists the devices once, at its start."""
        self._looked_at_s = time.monotonic()
        await self._child.stop()
        try:
            ready = msgspec.convert((await self._child.start(START_DEADLINE_S)).details, PlayerReady)
        except ChildError as error:
            self._tell(f"the sound library does not start: {error}")
            return
        self._tell(ready.problem)
        if ready.problem:
            await self._child.stop()
        else:
            log.info("the speaker is %s", ready.chosen)

    def _tell(self, problem: str) -> None:
        if problem:
            log.log(logging.DEBUG if problem == self._problem else logging.WARNING, "no speaker: %s", problem)
        self._problem = problem

    def _new_child(self) -> Child[PlayerMessage]:
        return Child("player", "daemon.audio.player", [self.device], FROM_PLAYER, self._env)
