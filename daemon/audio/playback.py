"""One announcement on the speaker, as the daemon sees it."""

import asyncio
import logging
from types import TracebackType
from typing import Self

from daemon.audio.protocol import (
    Audio,
    Began,
    End,
    Failed,
    Finished,
    Opened,
    Pause,
    Play,
    PlayerMessage,
    Playing,
    Pong,
    Resume,
    SpeakerMessage,
    Stop,
    Stopped,
)
from daemon.children.child import Child, ChildError
from daemon.errors import AnnouncementError, Code

log = logging.getLogger(__name__)

FADE_S = 0.06
PIECE_BYTES = 2**15  # 0.7 s at 24 kHz: a long piece must not keep the player from its first sample


class Playback:
    """Sound on its way to the device. Use it as a context manager: leaving it stops what is still playing.

    When a task is cancelled while it writes or finishes, the sound fades out before the cancellation goes on.
    """

    def __init__(self, child: Child[PlayerMessage], play: Play, hang_deadline_s: float) -> None:
        self.position_s = 0.0
        self.underruns = 0
        self._child = child
        self._play = play
        self._hang_deadline_s = hang_deadline_s
        self._opened = asyncio.Event()
        self._began = asyncio.Event()
        self._began_at_s: float | None = None
        self._ended: asyncio.Task[bool] | None = None

    async def open(self) -> None:
        """Returns when the device has taken the stream. Raises `AnnouncementError`."""
        self._ended = asyncio.create_task(self._follow())
        self._ended.add_done_callback(self._settle)
        try:
            await self._send(self._play)
            await self._opened.wait()
        except asyncio.CancelledError:
            await self.stop()
            raise
        if self._ended.done():
            await self._ended  # it ended before it began: tells why

    async def began(self) -> float | None:
        """`time.monotonic()` of the first sample of sound; None when it has ended without a sound."""
        await self._began.wait()
        return self._began_at_s

    async def write(self, pcm: bytes) -> None:
        """Adds 16-bit mono PCM; after a stop it does nothing. Raises `AnnouncementError`."""
        for start in range(0, len(pcm), PIECE_BYTES):
            await self._ask(Audio(self._play.announcement, pcm[start : start + PIECE_BYTES]))

    async def finish(self) -> bool:
        """Returns when the last sample was heard: True, or False after a stop. Raises `AnnouncementError`."""
        await self._ask(End(self._play.announcement))
        try:
            return await asyncio.shield(self._following)
        except asyncio.CancelledError:
            await self.stop()
            raise

    async def pause(self) -> None:
        """Fades to silence and holds the place. Raises `AnnouncementError`."""
        await self._ask(Pause(self._play.announcement))

    async def resume(self) -> None:
        """Goes on where `pause` began. Raises `AnnouncementError`."""
        await self._ask(Resume(self._play.announcement))

    async def stop(self, fade_s: float = FADE_S) -> None:
        """Fades out; returns when it is silent. Raises nothing: a device that broke is silent too."""
        if not self._following.done():
            await self._send(Stop(self._play.announcement, fade_s))
            await self.over()

    async def over(self) -> None:
        """Returns when it has ended, in whatever way; cancelling this stops nothing."""
        await asyncio.wait([self._following])

    @property
    def is_over(self) -> bool:
        return self._following.done()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def _following(self) -> asyncio.Task[bool]:
        if self._ended is None:
            raise RuntimeError("open() comes first")
        return self._ended

    async def _ask(self, message: SpeakerMessage) -> None:
        if self._following.done():
            await self._following  # raises why it ended, if it failed
            return
        try:
            await self._send(message)
        except asyncio.CancelledError:
            await self.stop()
            raise

    async def _send(self, message: SpeakerMessage) -> None:
        try:
            await self._child.send(message, self._hang_deadline_s)
        except ChildError as error:
            log.debug("the player takes no more messages: %s", error)
            await self._child.kill()  # `_follow` then ends with the reason for the user
            await self.over()

    async def _follow(self) -> bool:
        """Follows the player to the end of this announcement; on any fault the player is killed."""
        try:
            while (outcome := self._take(await self._child.receive(self._hang_deadline_s))) is None:
                pass
        except ChildError as error:
            await self._child.kill()
            raise AnnouncementError(
                Code.AUDIO_DEVICE, f"the sound output hangs or went away: {error}"
            ) from error
        except AnnouncementError:
            await self._child.kill()  # a new player sees the devices that are there then
            raise
        return outcome

    def _take(self, message: PlayerMessage) -> bool | None:
        match message:
            case Opened(sample_rate_hz=rate_hz, channels=channels):
                log.debug(
                    "announcement %d plays at %d Hz, %d channels", message.announcement, rate_hz, channels
                )
                self._opened.set()
            case Began(at_s=at_s):
                self._began_at_s = at_s
                self._began.set()
            case Playing(position_s=position_s):
                self.position_s = position_s
            case Finished():
                self.position_s = message.position_s
                self.underruns = message.underruns + message.device_underruns
                return True
            case Stopped(position_s=position_s):
                self.position_s = position_s
                return False
            case Pong():
                log.debug("a pong came late")  # of a ping whose sender did not wait
            case Failed(message=reason):
                raise AnnouncementError(Code.AUDIO_DEVICE, reason)
        return None

    def _settle(self, ended: asyncio.Task[bool]) -> None:
        self._opened.set()
        self._began.set()
        if not ended.cancelled() and ended.exception() is not None:
            log.debug("announcement %d ended: %s", self._play.announcement, ended.exception())
