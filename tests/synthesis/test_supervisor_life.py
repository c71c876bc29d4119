"""The worker comes when it is needed and goes when it is not, and leaves nothing behind."""

import asyncio
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from daemon.errors import AnnouncementError, Code
from daemon.synthesis.supervisor import State
from tests.fakes.engine import ALLOCATED_BYTES, SAMPLE_RATE_HZ, sine, spoken
from tests.synthesis.company import QUICK, SOON_S, request, speech_of, supervised, until


async def test_it_starts_with_the_first_request(tmp_path: Path) -> None:
    async with supervised(tmp_path) as supervisor:
        assert (supervisor.state, supervisor.pid, supervisor.rss_bytes) == (State.STOPPED, None, 0)
        assert (supervisor.version, supervisor.sample_rate_hz) == (None, None)
        assert await speech_of(supervisor, "one two") == spoken("one two")
        assert (supervisor.state, supervisor.restarts) == (State.READY, 0)
        assert (supervisor.version, supervisor.sample_rate_hz) == ("1", SAMPLE_RATE_HZ)
        assert supervisor.rss_bytes > 2**20


async def test_warming_loads_once_and_ahead_of_need(tmp_path: Path) -> None:
    async with supervised(tmp_path) as supervisor:
        await asyncio.gather(supervisor.warm(), supervisor.warm())
        pid = supervisor.pid
        assert supervisor.state is State.READY
        await speech_of(supervisor, "one")
        assert supervisor.pid == pid


async def test_requests_at_the_same_time_are_spoken_one_after_the_other(tmp_path: Path) -> None:
    texts = [f"one{number} two{number}" for number in range(8)]
    async with supervised(tmp_path) as supervisor:
        heard = await asyncio.gather(*(speech_of(supervisor, text) for text in texts))
    assert heard == [spoken(text) for text in texts]


async def test_the_first_piece_is_heard_while_the_next_is_made(tmp_path: Path) -> None:
    async with (
        supervised(tmp_path) as supervisor,
        aclosing(supervisor.synthesize(request("one @sleep=0.3 two"))) as pieces,
    ):
        assert (await anext(pieces)).pcm == sine("one")
        assert supervisor.state is State.BUSY
        assert (await anext(pieces)).pcm == sine("two")


async def test_a_slow_listener_does_not_hold_the_worker(tmp_path: Path) -> None:
    text = " ".join(f"word{number}" for number in range(2000))  # 6 MB: more than all pipes and buffers take
    async with (
        supervised(tmp_path) as supervisor,
        aclosing(supervisor.synthesize(request(text))) as pieces,
    ):
        first = await anext(pieces)
        assert await asyncio.wait_for(speech_of(supervisor, "other"), SOON_S) == spoken("other")
        rest = [piece.pcm async for piece in pieces]
    assert b"".join((first.pcm, *rest)) == spoken(text)


async def test_what_was_degraded_is_told(tmp_path: Path) -> None:
    async with supervised(tmp_path) as supervisor:
        pieces = [piece async for piece in supervisor.synthesize(request("@degraded one"))]
    assert [piece.degraded for piece in pieces] == [("style",), ()]


async def test_an_idle_worker_is_gone_and_so_is_its_memory(tmp_path: Path) -> None:
    async with supervised(tmp_path, replace(QUICK, idle_s=1.0)) as supervisor:
        await speech_of(supervisor, "@allocate one")
        pid = supervisor.pid
        assert supervisor.rss_bytes > ALLOCATED_BYTES
        await asyncio.sleep(0.6)
        await speech_of(supervisor, "two")
        await asyncio.sleep(0.6)
        assert supervisor.pid == pid  # the second announcement began a new idle time
        await until(lambda: supervisor.pid is None)
        assert pid is not None
        assert not psutil.pid_exists(pid)
        assert (supervisor.state, supervisor.rss_bytes, supervisor.version) == (State.STOPPED, 0, "1")
        assert await speech_of(supervisor, "three") == spoken("three")
        assert supervisor.restarts == 0


async def test_unloading_waits_for_the_job(tmp_path: Path) -> None:
    async with supervised(tmp_path) as supervisor:
        hearing = asyncio.create_task(speech_of(supervisor, "one @sleep=0.2 two"))
        await until(lambda: supervisor.state is State.BUSY)
        await supervisor.unload()
        assert supervisor.state is State.STOPPED
        assert await hearing == spoken("one two")


async def test_unloading_at_once_ends_the_job_as_throttled(tmp_path: Path) -> None:
    async with supervised(tmp_path) as supervisor:
        hearing = asyncio.create_task(speech_of(supervisor, "one @sleep=0.1 two @hang"))
        await until(lambda: supervisor.state is State.BUSY)
        await supervisor.unload(wait_for_job=False)
        assert (supervisor.state, supervisor.pid) == (State.STOPPED, None)
        with pytest.raises(AnnouncementError) as caught:
            await hearing
        assert caught.value.code is Code.THROTTLED
        assert await speech_of(supervisor, "three") == spoken("three")


async def test_unloading_nothing_is_nothing(tmp_path: Path) -> None:
    async with supervised(tmp_path) as supervisor:
        await supervisor.unload()
        await supervisor.unload(wait_for_job=False)
        assert supervisor.state is State.STOPPED


async def test_twelve_crashes_leak_no_file_descriptor_and_leave_no_zombie(tmp_path: Path) -> None:
    descriptors = []
    async with supervised(tmp_path) as supervisor:
        for number in range(6):
            with pytest.raises(AnnouncementError):
                await speech_of(supervisor, f"one{number} @exit")
            descriptors.append(psutil.Process().num_fds())
            assert psutil.Process().children() == []
        assert supervisor.restarts == 11
    assert max(descriptors[1:]) <= descriptors[0]
