"""The player process itself: killed, left alone, and kept for long."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from daemon.audio.speaker import Speaker
from daemon.children.child import ChildError
from daemon.errors import AnnouncementError
from tests.audio.alsa import AlsaFileDevice
from tests.audio.sounds import RATE_HZ, tone


async def _announce(speaker: Speaker, seconds: float = 0.1) -> None:
    async with await speaker.play(sample_rate_hz=RATE_HZ) as playback:
        await playback.write(tone(seconds).tobytes())
        assert await playback.finish()


def test_a_player_killed_while_playing_fails_that_announcement_only(card: AlsaFileDevice) -> None:
    async def scenario() -> str:
        speaker = Speaker(env=card.env)
        await speaker.start()
        async with await speaker.play(sample_rate_hz=RATE_HZ) as playback:
            await playback.write(tone(5.0).tobytes())
            await playback.began()
            _the_player().kill()
            with pytest.raises(AnnouncementError) as raised:
                await playback.finish()
        await _announce(speaker)
        await speaker.stop()
        return raised.value.message

    assert "killed by signal 9" in asyncio.run(scenario())


def test_a_player_killed_while_idle_is_not_noticed_by_the_next_announcement(card: AlsaFileDevice) -> None:
    async def scenario() -> None:
        speaker = Speaker(env=card.env)
        await speaker.start()
        await _announce(speaker)
        player = _the_player()
        player.kill()
        await asyncio.sleep(0.1)
        await _announce(speaker)
        await speaker.stop()

    asyncio.run(scenario())
    assert len(card.recordings()) == 2


def test_the_player_leaves_when_its_stdin_ends_even_while_it_hangs(tmp_path: Path) -> None:
    card = AlsaFileDevice(tmp_path, fifos=["stuck"])
    card.create()

    async def scenario() -> psutil.Process:
        speaker = Speaker("stuck", env=card.env)
        await speaker.start()
        opening = asyncio.create_task(speaker.play(sample_rate_hz=RATE_HZ))
        await asyncio.sleep(0.3)
        player = _the_player()
        await speaker._child.stop(grace_s=2.0)
        with pytest.raises(AnnouncementError, match="exit code 0"):
            await opening
        return player

    assert not asyncio.run(scenario()).is_running()


def test_a_hundred_announcements_leak_neither_files_nor_threads_nor_memory(card: AlsaFileDevice) -> None:
    async def scenario() -> None:
        speaker = Speaker(env=card.env)
        await speaker.start()
        for _ in range(10):
            await _announce(speaker, 0.01)
        player = _the_player()
        before, rss_before = await _open_things(player), player.memory_info().rss
        for _ in range(100):
            await _announce(speaker, 0.01)
        assert await _open_things(player) == before
        assert player.memory_info().rss - rss_before < 2 * 2**20
        await speaker.stop()

    asyncio.run(scenario())
    assert len(card.recordings()) == 110


def test_the_daemons_side_imports_no_sound_library() -> None:
    names = "daemon.audio.speaker, daemon.audio.wav, daemon.audio.chime"
    heavy = "{'numpy', 'soxr', 'sounddevice', 'cffi'}"
    code = f"import sys, {names}; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=30).returncode == 0


def test_a_message_that_is_none_ends_the_player(card: AlsaFileDevice) -> None:
    player = subprocess.run(
        [sys.executable, "-m", "daemon.audio.player", "auto"],
        input=b"\x00\x00\x00\x01\x00",
        capture_output=True,
        env={**os.environ, **card.env},
        check=False,
        timeout=30,
    )
    assert player.returncode == 1
    assert b"not a frame of this protocol" in player.stderr


async def _open_things(player: psutil.Process) -> list[int]:
    """Files and threads of the player and of this process, once the last stream is closed."""
    await asyncio.sleep(0.2)
    return [count for each in (player, psutil.Process()) for count in (each.num_fds(), each.num_threads())]


def _the_player() -> psutil.Process:
    (player,) = psutil.Process().children()
    return player


def test_an_idle_player_answers_a_ping_and_one_that_plays_is_not_disturbed(card: AlsaFileDevice) -> None:
    async def scenario() -> None:
        speaker = Speaker(env=card.env)
        await speaker.start()
        await speaker.ping(5.0)
        async with await speaker.play(sample_rate_hz=RATE_HZ) as playback:
            await playback.write(tone(0.5).tobytes())
            await speaker.ping(5.0)
            assert await playback.finish()
        await speaker.ping(5.0)
        await speaker.stop()
        await speaker.ping(5.0)  # nothing runs, and nothing is wrong

    asyncio.run(scenario())


def test_a_frozen_player_is_found_while_idle_and_replaced(card: AlsaFileDevice) -> None:
    async def scenario() -> None:
        speaker = Speaker(env=card.env)
        await speaker.start()
        frozen = _the_player()
        frozen.suspend()
        with pytest.raises(ChildError):
            await speaker.ping(0.3)
        assert not frozen.is_running()
        await _announce(speaker)
        await speaker.stop()

    asyncio.run(scenario())
