"""Stop, pause, resume and cancel, as the device hears them."""

import asyncio
import contextlib

import numpy as np
import pytest

from daemon.audio.playback import Playback
from daemon.audio.speaker import Speaker
from daemon.errors import AnnouncementError, Code
from tests.audio.alsa import AlsaFileDevice
from tests.audio.sounds import RATE_HZ, largest_step, longest_silence_s, rms, tone

LONG = tone(20.0)
STEP_OF_TONE = largest_step(LONG[:-1000])


async def _begin(speaker: Speaker) -> Playback:
    """Twenty seconds of sound, of which the first are being heard."""
    playback = await speaker.play(sample_rate_hz=RATE_HZ)
    await playback.write(LONG.tobytes())
    await playback.began()
    return playback


def test_stop_fades_out_without_a_click_and_drops_the_rest(card: AlsaFileDevice) -> None:
    async def scenario() -> bool:
        speaker = Speaker(env=card.env)
        await speaker.start()
        playback = await _begin(speaker)
        await asyncio.sleep(0.3)
        async with asyncio.timeout(1.0):
            await playback.stop()
        await playback.write(LONG.tobytes())
        heard_whole = await playback.finish()
        await speaker.stop()
        return heard_whole

    assert asyncio.run(scenario()) is False
    (heard,) = card.recordings()
    assert 0.3 < heard.duration_s < 1.0
    assert largest_step(heard.samples) <= STEP_OF_TONE
    fade = heard.samples[-round(0.06 * RATE_HZ) :]
    assert np.array_equal(heard.samples[: -len(fade)], LONG[: len(heard.samples) - len(fade)])
    assert rms(fade[: len(fade) // 4]) > 10 * rms(fade[-len(fade) // 4 :])


def test_pause_holds_in_silence_and_resume_goes_on_from_there(card: AlsaFileDevice) -> None:
    sent = tone(1.2)

    async def scenario() -> int:
        speaker = Speaker(env=card.env)
        await speaker.start()
        async with await speaker.play(sample_rate_hz=RATE_HZ) as playback:
            await playback.write(sent.tobytes())
            await playback.began()
            await asyncio.sleep(0.2)
            await playback.pause()
            await asyncio.sleep(0.6)
            await playback.resume()
            assert await playback.finish()
        await speaker.stop()
        return playback.underruns

    assert asyncio.run(scenario()) == 0
    (heard,) = card.recordings()
    assert 0.3 < longest_silence_s(heard.samples, RATE_HZ) < 0.8
    assert largest_step(heard.samples[:-10]) <= STEP_OF_TONE
    # What was faded is heard again, so that no sound is missing: all of it and one fade more.
    silent = round(longest_silence_s(heard.samples, RATE_HZ) * RATE_HZ)
    assert len(heard.samples) - silent == pytest.approx(len(sent) + 0.06 * RATE_HZ, abs=0.005 * RATE_HZ)


def test_stop_while_paused_ends_at_once(card: AlsaFileDevice) -> None:
    async def scenario() -> None:
        speaker = Speaker(env=card.env)
        await speaker.start()
        playback = await _begin(speaker)
        await playback.pause()
        await asyncio.sleep(0.2)
        async with asyncio.timeout(1.0):
            await playback.stop()
        await speaker.stop()

    asyncio.run(scenario())
    (heard,) = card.recordings()
    assert not heard.samples[-100:].any()


def test_cancelling_the_task_that_waits_fades_out_and_the_next_announcement_plays(
    card: AlsaFileDevice,
) -> None:
    async def announce(speaker: Speaker, began: asyncio.Event) -> None:
        async with await speaker.play(sample_rate_hz=RATE_HZ) as playback:
            await playback.write(LONG.tobytes())
            await playback.began()
            began.set()
            await playback.finish()

    async def scenario() -> None:
        speaker = Speaker(env=card.env)
        await speaker.start()
        began = asyncio.Event()
        task = asyncio.create_task(announce(speaker, began))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with await speaker.play(sample_rate_hz=RATE_HZ) as playback:
            await playback.write(tone(0.1).tobytes())
            assert await playback.finish()
        await speaker.stop()

    asyncio.run(scenario())
    cut, whole = card.recordings()
    assert cut.duration_s < 1.0
    assert largest_step(cut.samples) <= STEP_OF_TONE
    assert np.array_equal(whole.samples, tone(0.1))


def test_cancelling_at_any_moment_leaves_the_speaker_usable(card: AlsaFileDevice) -> None:
    async def announce(speaker: Speaker) -> None:
        async with await speaker.play(sample_rate_hz=RATE_HZ, chime_name="gong") as playback:
            await playback.write(LONG.tobytes())
            await playback.finish()

    async def scenario() -> None:
        speaker = Speaker(env=card.env)
        await speaker.start()
        for after_s in (0.0, 0.001, 0.005, 0.01, 0.02, 0.05):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(after_s):
                    await announce(speaker)
        async with asyncio.timeout(5.0):
            async with await speaker.play(sample_rate_hz=RATE_HZ) as playback:
                await playback.write(tone(0.1).tobytes())
                assert await playback.finish()
        await speaker.stop()

    asyncio.run(scenario())
    assert np.array_equal(card.recordings()[-1].samples, tone(0.1))


def test_announcements_wait_for_each_other(card: AlsaFileDevice) -> None:
    async def announce(speaker: Speaker, frequency_hz: float) -> None:
        async with await speaker.play(sample_rate_hz=RATE_HZ) as playback:
            await playback.write(tone(0.2, frequency_hz=frequency_hz).tobytes())
            assert await playback.finish()

    async def scenario() -> None:
        speaker = Speaker(env=card.env)
        await speaker.start()
        async with asyncio.TaskGroup() as group:
            for frequency_hz in (300.0, 500.0, 700.0):
                group.create_task(announce(speaker, frequency_hz))
        await speaker.stop()

    asyncio.run(scenario())
    heard = [recording.samples for recording in card.recordings()]
    assert [len(samples) for samples in heard] == [len(tone(0.2))] * 3


def test_stopping_the_speaker_fades_out_what_plays_and_refuses_what_waits(card: AlsaFileDevice) -> None:
    async def scenario() -> None:
        speaker = Speaker(env=card.env)
        await speaker.start()
        await _begin(speaker)
        waiting = asyncio.create_task(speaker.play(sample_rate_hz=RATE_HZ))
        await asyncio.sleep(0)
        await speaker.stop()
        with pytest.raises(AnnouncementError) as raised:
            await waiting
        assert raised.value.code is Code.SHUTTING_DOWN

    asyncio.run(scenario())
    (heard,) = card.recordings()
    assert heard.duration_s < 1.0
    assert largest_step(heard.samples) <= STEP_OF_TONE
