"""Makes one announcement: voice, sound, loudspeaker, WAV file."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

import msgspec

from daemon.audio import chime, wav
from daemon.audio.playback import Playback
from daemon.audio.speaker import Speaker
from daemon.audio.wav import SAMPLE_BYTES, WavWriter
from daemon.clock import Clock
from daemon.errors import AnnouncementError, Code
from daemon.jobs.given import GivenSound
from daemon.jobs.job import Job, Priority
from daemon.jobs.journal import Entry
from daemon.jobs.queue import JobQueue
from daemon.jobs.rendering import Rendering
from daemon.mqtt.messages import Event, Result
from daemon.mqtt.results import Results
from daemon.storage import phrases
from daemon.storage.outputs import Outputs
from daemon.storage.phrases import PhraseCache
from daemon.storage.settings import Settings
from daemon.synthesis.engines import Engines
from daemon.tasks import to_its_end

Source = Rendering | GivenSound  # of one job's sound


class Announcer:
    """Joins engine, phrase cache, speaker and output files for one job at a time."""

    def __init__(
        self,
        queue: JobQueue,
        results: Results,
        engines: Engines,
        speaker: Speaker,
        outputs: Outputs,
        cache: PhraseCache,
        settings: Callable[[], Settings],
        volume: int,
        clock: Clock,
    ) -> None:
        self._queue = queue
        self._results = results
        self._engines = engines
        self._speaker = speaker
        self._outputs = outputs
        self._cache = cache
        self._settings = settings
        self._volume = volume
        self._clock = clock
        self._playback: Playback | None = None

    async def pause(self) -> None:
        """Holds what is being spoken at its place."""
        if self._playback is not None:
            await _attempt(self._playback.pause())

    async def resume(self) -> None:
        if self._playback is not None:
            await _attempt(self._playback.resume())

    def is_cached(self, job: Job) -> bool:
        """Whether its sound is in the phrase cache, so that nothing has to be synthesised."""
        return self.phrases(job)[0].exists()

    def phrases(self, job: Job) -> list[Path]:
        """Where its sound is in the phrase cache, or will be; the first is what was asked for."""
        return [self._cache.wav(key) for key in self._rendering(job).keys]

    async def make(self, entry: Entry) -> Result:
        """Makes, plays and files one job. Raises `AnnouncementError`."""
        rendering = self._rendering(entry.job)
        with self._cache.hold(*rendering.keys):
            return await self._make(entry, rendering)

    def _rendering(self, job: Job) -> Source:
        if job.sound is not None:
            return GivenSound(job.sound, self._cache)
        return Rendering.of(job, self._engines, self._cache)

    async def _make(self, entry: Entry, rendering: Source) -> Result:
        job = entry.job
        speaks = job.output != "file" and not self._is_silenced(job) and await self._speaker.look_again()
        if speaks:
            device_error = await self._speak(job, rendering)
        else:
            device_error = None
            self._tell_started(job, rendering)
            async with aclosing(rendering.pieces()) as pieces:
                async for _ in pieces:
                    pass
        needed = job.output != "speaker" or device_error is not None
        # Whoever cuts in now comes too late: it was heard, and must not be postponed and heard again.
        wav_path = await to_its_end(asyncio.create_task(self._keep_file(entry, rendering, needed)))
        if rendering.disk_error is not None and not speaks:
            raise rendering.disk_error
        result = self._describe(
            job, rendering, Event.FAILED if device_error else Event.FINISHED, device_error
        )
        missing: tuple[str, ...] = () if speaks or job.output == "file" else ("speaker",)
        missing += ("file",) if rendering.disk_error is not None and job.output == "both" else ()
        missing += ("repeat",) if speaks and job.repeat > 1 and not rendering.whole else ()
        return msgspec.structs.replace(
            result,
            wav_path=str(wav_path) if wav_path else None,
            duration_s=round(rendering.duration_s, 3),
            rtf=round(rendering.rtf, 3) if rendering.rtf is not None else None,
            cached=rendering.cached,
            degraded=(*rendering.degraded, *missing),
        )

    async def _speak(self, job: Job, rendering: Source) -> AnnouncementError | None:
        """Plays the job while it is being made; the device's error, while the making goes on to its end."""
        device_error: AnnouncementError | None = None
        opening = asyncio.create_task(self._open(job, rendering))  # the device opens while the engine works
        telling = asyncio.create_task(self._tell_when_begun(opening, job, rendering))
        try:
            async with aclosing(rendering.pieces()) as pieces:
                async for pcm in pieces:
                    device_error = device_error or await _attempt(_write(opening, pcm))
            if device_error is not None:
                return device_error
            return await _attempt(self._repeat_and_finish(job, rendering, await opening))
        finally:
            self._playback = None
            await _close(opening)
            await telling

    async def _open(self, job: Job, rendering: Source) -> Playback:
        volume = job.volume if job.volume is not None else self._settings().volume
        playback = await self._speaker.play(
            sample_rate_hz=rendering.sample_rate_hz,
            volume=self._volume if volume is None else volume,
            chime_name=job.chime,
        )
        self._playback = playback
        if self._queue.paused:
            await playback.pause()
        return playback

    async def _repeat_and_finish(self, job: Job, rendering: Source, playback: Playback) -> None:
        pause = bytes(SAMPLE_BYTES * int(job.repeat_pause_s * rendering.sample_rate_hz))
        for _ in range(job.repeat - 1 if rendering.whole else 0):
            await playback.write(pause)
            for pcm in wav.read_blocks(rendering.wav):
                await playback.write(pcm)
        await playback.finish()

    async def _keep_file(self, entry: Entry, rendering: Source, needed: bool) -> Path | None:
        """Gives the job a file of its own in `outputs/`; with its chime, if it has one."""
        if not needed or not rendering.whole:
            return None
        path = self._outputs.path_for(entry.job.id, entry.seq, self._clock().wall_s)
        try:
            self._outputs.check_room()
            if entry.job.chime is None:
                await asyncio.to_thread(phrases.copy, rendering.wav, path)
            else:
                await asyncio.to_thread(_write_with_chime, entry.job.chime, rendering, path)
        except AnnouncementError as error:
            rendering.disk_error = error
            return None
        except OSError as error:
            reason = f"{path} cannot be written: {error.strerror}"
            rendering.disk_error = AnnouncementError(Code.DISK_FULL, reason)
            return None
        return path

    def _is_silenced(self, job: Job) -> bool:
        return self._settings().do_not_disturb and job.priority != Priority.IMPORTANT

    async def _tell_when_begun(self, opening: "asyncio.Task[Playback]", job: Job, rendering: Source) -> None:
        """Tells that the first sample went to the device, if one ever does."""
        await asyncio.wait({opening})
        if _is_open(opening) and await opening.result().began() is not None:
            self._tell_started(job, rendering)

    def _tell_started(self, job: Job, rendering: Source) -> None:
        self._results.started(job, self._describe(job, rendering, Event.STARTED))

    def _describe(
        self, job: Job, rendering: Source, event: Event, error: AnnouncementError | None = None
    ) -> Result:
        return msgspec.structs.replace(
            self._results.describe(job, event, error),
            voice=rendering.voice,
            engine=rendering.engine,
            sample_rate_hz=rendering.sample_rate_hz,
        )


async def _write(opening: "asyncio.Task[Playback]", pcm: bytes) -> None:
    await (await opening).write(pcm)


async def _close(opening: "asyncio.Task[Playback]") -> None:
    """Silences the device, whether it is still opening, playing, or done."""
    opening.cancel()
    await asyncio.wait({opening})
    if _is_open(opening):
        await opening.result().stop()


def _is_open(opening: "asyncio.Task[Playback]") -> bool:
    return opening.done() and not opening.cancelled() and opening.exception() is None


async def _attempt(step: Awaitable[None]) -> AnnouncementError | None:
    """The device's error as a value: it ends the playing, not the making."""
    try:
        await step
    except AnnouncementError as error:
        return error
    return None


def _write_with_chime(name: str, rendering: Source, path: Path) -> None:
    with WavWriter(path, rendering.sample_rate_hz) as writer:
        writer.write(chime.pcm(name, rendering.sample_rate_hz))
        for pcm in wav.read_blocks(rendering.wav):
            writer.write(pcm)
        writer.finish()
