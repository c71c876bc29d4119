"""A listener that leaves early, in every way; afterwards the next announcement is whole."""

import asyncio
import logging
import time
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from daemon.errors import AnnouncementError, Code
from daemon.synthesis.supervisor import State, Supervisor
from tests.fakes.engine import sine, spoken
from tests.synthesis.company import QUICK, request, speech_of, supervised, until


async def first_piece(supervisor: Supervisor, text: str) -> bytes:
    """Listens to one piece, lets the engine go on a little, and leaves."""
    async with aclosing(supervisor.synthesize(request(text))) as pieces:
        piece = await anext(pieces)
        await asyncio.sleep(0.1)
        return piece.pcm


async def test_closing_the_generator_cancels_the_job_and_keeps_the_worker(tmp_path: Path) -> None:
    async with supervised(tmp_path) as supervisor:
        assert await first_piece(supervisor, "one @sleep=0.2 two @hang") == sine("one")
        assert supervisor.state is State.READY
        assert await speech_of(supervisor, "three") == spoken("three")
        assert supervisor.restarts == 0


async def test_cancelling_the_task_cancels_the_job(tmp_path: Path) -> None:
    async with supervised(tmp_path) as supervisor:
        hearing = asyncio.create_task(speech_of(supervisor, "one @sleep=0.2 two @hang"))
        await until(lambda: supervisor.state is State.BUSY)
        hearing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hearing
        assert supervisor.state is State.READY
        assert await speech_of(supervisor, "three") == spoken("three")


@pytest.mark.parametrize("order", ["deaf", "hang", "freeze"])
async def test_a_worker_that_ignores_the_cancel_is_killed(order: str, tmp_path: Path) -> None:
    async with supervised(tmp_path, replace(QUICK, cancel_s=0.5)) as supervisor:
        began = time.monotonic()
        assert await first_piece(supervisor, f"one @{order} @sleep=5 two") == sine("one")
        assert time.monotonic() - began < 3.0
        assert supervisor.pid is None
        assert await speech_of(supervisor, "three") == spoken("three")


async def test_a_worker_that_crashes_on_the_cancel_is_replaced(tmp_path: Path) -> None:
    async with supervised(tmp_path) as supervisor:
        await first_piece(supervisor, "one @sleep=0.2 @exit")
        assert await speech_of(supervisor, "two") == spoken("two")


async def test_leaving_while_the_engine_loads(tmp_path: Path) -> None:
    async with supervised(tmp_path, engine="never-ready") as supervisor:
        hearing = asyncio.create_task(speech_of(supervisor, "one"))
        await until(lambda: supervisor.pid is not None)
        hearing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hearing
        assert (supervisor.state, supervisor.pid) == (State.STOPPED, None)


async def test_leaving_at_any_moment_of_the_start_leaves_no_process_and_no_descriptor(tmp_path: Path) -> None:
    async with supervised(tmp_path, engine="never-ready") as supervisor:
        descriptors = []
        for step in range(20):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.001 * step):
                    await speech_of(supervisor, "one")
            assert psutil.Process().children() == []
            descriptors.append(psutil.Process().num_fds())
        assert max(descriptors[1:]) <= descriptors[0]


async def test_leaving_while_another_job_has_the_worker(tmp_path: Path) -> None:
    async with supervised(tmp_path) as supervisor:
        first = asyncio.create_task(speech_of(supervisor, "one @sleep=0.3 two"))
        await asyncio.sleep(0.05)
        second = asyncio.create_task(speech_of(supervisor, "three"))
        await asyncio.sleep(0.05)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        assert await first == spoken("one two")


async def test_a_second_cancel_does_not_wait_for_a_worker_that_ignores_the_first(tmp_path: Path) -> None:
    async with supervised(tmp_path, replace(QUICK, cancel_s=30.0)) as supervisor:
        hearing = asyncio.create_task(speech_of(supervisor, "one @once:hang"))
        await until((tmp_path / "hang").exists)
        hearing.cancel()
        await asyncio.sleep(0.1)
        assert not hearing.done()
        hearing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(hearing, 1.0)
        await asyncio.wait_for(supervisor.unload(wait_for_job=False), 3.0)
        assert await speech_of(supervisor, "two") == spoken("two")


async def test_many_listeners_that_leave_at_any_moment_never_get_anothers_speech(tmp_path: Path) -> None:
    async with supervised(tmp_path) as supervisor:
        await supervisor.warm()
        for step in range(30):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.001 * step):
                    await speech_of(supervisor, "wrong words @sleep=0.05 wrong words @sleep=0.05 wrong")
            assert await speech_of(supervisor, f"right{step}") == spoken(f"right{step}")
        assert supervisor.restarts == 0


async def test_a_listener_that_only_drops_the_generator_blocks_nobody(tmp_path: Path) -> None:
    async with supervised(tmp_path) as supervisor:
        async for piece in supervisor.synthesize(request("one @sleep=0.1 two @hang")):
            assert piece.pcm == sine("one")
            break
        assert await asyncio.wait_for(speech_of(supervisor, "three"), 5.0) == spoken("three")


async def test_stopping_ends_the_running_job_with_shutting_down(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, logger="asyncio")
    async with supervised(tmp_path) as supervisor:
        hearing = asyncio.create_task(speech_of(supervisor, "one @sleep=0.1 two @hang"))
        waiting = asyncio.create_task(speech_of(supervisor, "three"))
        await until(lambda: supervisor.state is State.BUSY)
        await supervisor.stop()
        for job in (hearing, waiting):
            with pytest.raises(AnnouncementError) as caught:
                await job
            assert caught.value.code is Code.SHUTTING_DOWN
        with pytest.raises(AnnouncementError, match="not running"):
            await speech_of(supervisor, "four")
        assert (supervisor.state, supervisor.pid) == (State.STOPPED, None)
    assert caplog.messages == []  # no exception was left for nobody to see


@pytest.mark.parametrize("engine", ["fake", "never-ready"])
async def test_stopping_while_the_engine_is_warmed(engine: str, tmp_path: Path) -> None:
    async with supervised(tmp_path, engine=engine) as supervisor:
        warming = asyncio.create_task(supervisor.warm())
        await asyncio.sleep(0.02)
        await asyncio.wait_for(supervisor.stop(), 3.0)
        with pytest.raises(AnnouncementError) as caught:
            await warming
        assert caught.value.code is Code.SHUTTING_DOWN
