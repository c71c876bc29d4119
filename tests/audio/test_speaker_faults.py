"""Devices that are missing, refuse, hang or go away: one announcement fails, the next one plays."""

import asyncio
import contextlib
import fcntl
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from daemon.audio.speaker import Speaker
from daemon.errors import AnnouncementError, Code
from tests.audio.alsa import AlsaFileDevice
from tests.audio.sounds import RATE_HZ, tone

SMALLEST_PIPE_BYTES = resource.getpagesize()  # see pipe(7)


async def _announce(speaker: Speaker, seconds: float = 0.1) -> None:
    async with await speaker.play(sample_rate_hz=RATE_HZ) as playback:
        await playback.write(tone(seconds).tobytes())
        assert await playback.finish()


@contextlib.contextmanager
def _unread(fifo: Path) -> Iterator[None]:
    """Opens a FIFO for reading and never reads."""
    descriptor = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
    try:
        yield
    finally:
        os.close(descriptor)


def test_a_missing_device_fails_and_names_the_nearest(card: AlsaFileDevice) -> None:
    async def scenario() -> AnnouncementError:
        speaker = Speaker("recordre", env=card.env)
        await speaker.start()
        assert speaker.available
        with pytest.raises(AnnouncementError) as raised:
            await _announce(speaker)
        await speaker.stop()
        return raised.value

    error = asyncio.run(scenario())
    assert error.code is Code.AUDIO_DEVICE
    assert error.message == "there is no sound output 'recordre'; the nearest is 'recorder'"


def test_a_device_that_appears_later_is_found_by_the_next_announcement(tmp_path: Path) -> None:
    card = AlsaFileDevice(tmp_path)
    _no_outputs(card)

    async def scenario() -> None:
        speaker = Speaker("recorder", env=card.env)
        await speaker.start()
        with pytest.raises(AnnouncementError, match="no sound output"):
            await _announce(speaker)
        card.create()
        await _announce(speaker)
        await speaker.stop()

    asyncio.run(scenario())
    assert len(card.recordings()) == 1


def test_auto_without_any_output_is_unavailable_and_says_why(tmp_path: Path) -> None:
    card = AlsaFileDevice(tmp_path)
    _no_outputs(card)

    async def scenario() -> Speaker:
        speaker = Speaker(env=card.env)
        await speaker.start()
        return speaker

    speaker = asyncio.run(scenario())
    assert not speaker.available
    assert speaker.problem == "this machine has no sound output"
    assert speaker.rss_bytes == 0, "nothing is kept running for it"


def test_auto_looks_again_for_an_output_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = AlsaFileDevice(tmp_path)
    _no_outputs(card)

    async def scenario() -> list[bool]:
        speaker = Speaker(env=card.env)
        await speaker.start()
        card.create()
        soon = await speaker.look_again()
        monkeypatch.setattr("daemon.audio.speaker.LOOK_AGAIN_S", 0.0)
        later = await speaker.look_again()
        await _announce(speaker)
        await speaker.stop()
        return [soon, later]

    assert asyncio.run(scenario()) == [False, True]


def test_a_machine_without_portaudio_is_unavailable_and_says_what_to_install(
    card: AlsaFileDevice, tmp_path: Path
) -> None:
    # What sounddevice does on such a machine: its import raises OSError.
    (tmp_path / "sounddevice.py").write_text("raise OSError('PortAudio library not found')\n")

    async def scenario() -> Speaker:
        speaker = Speaker(env={**card.env, "PYTHONPATH": str(tmp_path)})
        await speaker.start()
        return speaker

    speaker = asyncio.run(scenario())
    assert not speaker.available
    assert "apt install libportaudio2" in speaker.problem


def test_none_starts_no_process_and_plays_nothing() -> None:
    async def scenario() -> None:
        speaker = Speaker("none")
        await speaker.start()
        assert not speaker.available
        assert speaker.rss_bytes == 0
        with pytest.raises(AnnouncementError, match="turned off"):
            await _announce(speaker)
        await speaker.stop()

    asyncio.run(scenario())


@pytest.mark.parametrize("reader", [True, False], ids=["while playing", "while opening"])
def test_a_hanging_device_fails_in_time_and_the_next_announcement_is_tried(
    tmp_path: Path, reader: bool
) -> None:
    card = AlsaFileDevice(tmp_path, fifos=["stuck"])
    card.create()

    async def scenario() -> float:
        speaker = Speaker("stuck", hang_deadline_s=1.0, env=card.env)
        await speaker.start()
        start_s = time.monotonic()
        with pytest.raises(AnnouncementError, match="hangs") as raised:
            await _announce(speaker, 5.0)
        hung_s = time.monotonic() - start_s
        assert raised.value.code is Code.AUDIO_DEVICE
        (tmp_path / "stuck").unlink()  # now ALSA makes a plain file of it
        await _announce(speaker)
        await speaker.stop()
        return hung_s

    if reader:
        with _unread(tmp_path / "stuck"):
            assert asyncio.run(scenario()) < 4.0  # a pipe's 64 KiB are 0.7 s of sound
    else:
        assert asyncio.run(scenario()) < 3.0
    assert (tmp_path / "stuck").stat().st_size == len(tone(0.1)) * 4


def test_stopping_on_a_hanging_device_ends_in_time(tmp_path: Path) -> None:
    card = AlsaFileDevice(tmp_path, fifos=["stuck"])
    card.create()

    async def scenario() -> None:
        speaker = Speaker("stuck", hang_deadline_s=1.0, env=card.env)
        await speaker.start()
        playback = await speaker.play(sample_rate_hz=RATE_HZ)
        await playback.write(tone(5.0).tobytes())
        await asyncio.sleep(1.0)
        async with asyncio.timeout(2.0):
            await playback.stop()
        await speaker.stop()

    with _unread(tmp_path / "stuck"):
        asyncio.run(scenario())


def test_a_device_slower_than_our_clock_is_waited_for_and_loses_nothing(tmp_path: Path) -> None:
    card = AlsaFileDevice(tmp_path, fifos=["slow"])
    card.create()
    sent = tone(1.0)
    descriptor = os.open(tmp_path / "slow", os.O_RDWR | os.O_NONBLOCK)
    fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, SMALLEST_PIPE_BYTES)

    async def scenario() -> tuple[bytes, float]:
        speaker = Speaker("slow", env=card.env)
        await speaker.start()
        start_s = time.monotonic()
        announcing = asyncio.create_task(_announce(speaker, 1.0))
        taken = bytearray()
        while not announcing.done():
            await asyncio.sleep(0.01)
            with contextlib.suppress(BlockingIOError):
                taken += os.read(descriptor, 480)  # half of what 10 ms are
        await announcing
        lasted_s = time.monotonic() - start_s
        with contextlib.suppress(BlockingIOError):
            taken += os.read(descriptor, SMALLEST_PIPE_BYTES)
        await speaker.stop()
        return bytes(taken), lasted_s

    try:
        taken, lasted_s = asyncio.run(scenario())
    finally:
        os.close(descriptor)
    assert lasted_s > 1.3
    assert taken == np.repeat(sent, 2).tobytes()


def test_a_device_that_breaks_while_playing_fails_that_announcement(tmp_path: Path) -> None:
    card = AlsaFileDevice(tmp_path, fifos=["breaking"])
    card.create()
    descriptor = os.open(tmp_path / "breaking", os.O_RDWR | os.O_NONBLOCK)

    async def scenario() -> str:
        speaker = Speaker("breaking", env=card.env)
        await speaker.start()
        async with await speaker.play(sample_rate_hz=RATE_HZ) as playback:
            await playback.write(tone(5.0).tobytes())
            await playback.began()
            os.close(descriptor)
            with pytest.raises(AnnouncementError) as raised:
                await playback.finish()
        await speaker.stop()
        return raised.value.message

    assert asyncio.run(scenario()).startswith("the sound output 'breaking' broke")


def _no_outputs(card: AlsaFileDevice) -> None:
    """A machine without a sound card; PortAudio itself aborts on a configuration that names no PCM at all."""
    (card.folder / "asound.conf").write_text("pcm.nothing { type none }\n")
