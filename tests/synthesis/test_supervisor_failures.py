"""What happens to a job when its worker dies, hangs or talks nonsense; the failure mode is in the name."""

import asyncio
import signal
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from daemon.children.child import ChildTimeout
from daemon.errors import AnnouncementError, Code
from daemon.synthesis.backoff import Backoff
from daemon.synthesis.supervisor import State, Supervisor
from tests.fakes.engine import sine, spoken
from tests.synthesis.company import (
    QUICK,
    SOON_S,
    kill_worker,
    request,
    signal_worker,
    speech_of,
    supervised,
    until,
)

SILENT = replace(QUICK, silence_s=1.0)
STRICT = Backoff(limit=5, window_s=300.0, cool_down_s=0.8, second_delay_s=0.05)


async def failure_of(supervisor: Supervisor, text: str) -> AnnouncementError:
    with pytest.raises(AnnouncementError) as caught:
        await speech_of(supervisor, text)
    return caught.value


@pytest.mark.parametrize("order", ["exit", "segfault", "bug", "garbage"])
async def test_a_worker_that_breaks_once_costs_no_sample(order: str, tmp_path: Path) -> None:
    text = f"one two @once:{order} three four"
    async with supervised(tmp_path) as supervisor:
        assert await speech_of(supervisor, text) == spoken("one two three four")
        assert (supervisor.state, supervisor.restarts) == (State.READY, 1)


async def test_a_worker_that_freezes_once_costs_no_sample(tmp_path: Path) -> None:
    async with supervised(tmp_path, SILENT) as supervisor:
        assert await speech_of(supervisor, "one @once:freeze two") == spoken("one two")
        assert supervisor.restarts == 1


async def test_an_engine_that_hangs_once_costs_no_sample(tmp_path: Path) -> None:
    async with supervised(tmp_path, replace(QUICK, job_base_s=0.6)) as supervisor:
        assert await speech_of(supervisor, "one @once:hang two") == spoken("one two")
        assert supervisor.restarts == 1


async def test_pieces_of_the_first_attempt_are_not_handed_out_twice(tmp_path: Path) -> None:
    async with supervised(tmp_path) as supervisor:
        pieces = [piece async for piece in supervisor.synthesize(request("one two @once:exit three"))]
    assert [piece.pcm for piece in pieces] == [sine("one"), sine("two"), sine("three")]
    assert pieces[0].job == pieces[1].job != pieces[2].job


async def test_kill_9_while_synthesising(tmp_path: Path) -> None:
    async with supervised(tmp_path) as supervisor:
        heard = b""
        async for piece in supervisor.synthesize(request("one @sleep=0.3 two")):
            if not heard:
                signal_worker(supervisor, signal.SIGKILL)
            heard += piece.pcm
        assert heard == spoken("one two")
        assert supervisor.restarts == 1


async def test_kill_9_while_idle(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with supervised(tmp_path) as supervisor:
        await supervisor.warm()
        signal_worker(supervisor, signal.SIGKILL)
        await asyncio.sleep(0.3)
        assert (supervisor.state, supervisor.pid) == (State.STOPPED, None)
        assert await speech_of(supervisor, "one") == spoken("one")
    assert "the worker process ended (killed by signal 9) while it was idle" in caplog.messages


async def test_kill_9_while_loading(tmp_path: Path) -> None:
    async with supervised(tmp_path) as supervisor:
        hearing = asyncio.create_task(speech_of(supervisor, "one"))
        await until(lambda: supervisor.pid is not None)
        assert supervisor.state is State.LOADING
        signal_worker(supervisor, signal.SIGKILL)
        assert await hearing == spoken("one")


async def test_kill_9_at_any_moment_costs_no_sample(tmp_path: Path) -> None:
    async with supervised(tmp_path) as supervisor:
        for step in range(10):
            hearing = asyncio.create_task(speech_of(supervisor, "one @sleep=0.1 two @sleep=0.1 three"))
            await asyncio.sleep(0.02 + 0.03 * step)
            await kill_worker(supervisor)
            assert await hearing == spoken("one two three")
        assert supervisor.restarts >= 5


async def test_two_crashes_fail_the_job_and_the_next_one_is_spoken(tmp_path: Path) -> None:
    async with supervised(tmp_path) as supervisor:
        error = await failure_of(supervisor, "one @exit two")
        assert (error.code, error.message) == (Code.ENGINE_FAILED, "the worker process ended (exit code 7)")
        assert await speech_of(supervisor, "three") == spoken("three")


@pytest.mark.parametrize(
    ("order", "sentence"),
    [("hang", "the engine did not finish in time"), ("freeze", "the worker was silent for 1 s")],
)
async def test_two_hangs_fail_the_job_in_time(order: str, sentence: str, tmp_path: Path) -> None:
    async with supervised(tmp_path, replace(SILENT, job_base_s=2.0)) as supervisor:
        began = time.monotonic()
        error = await failure_of(supervisor, f"one @{order} two")
        assert (error.code, error.message) == (Code.ENGINE_TIMEOUT, sentence)
        assert time.monotonic() - began < SOON_S
        assert await speech_of(supervisor, "three") == spoken("three")


async def test_a_slow_engine_is_not_taken_for_a_silent_worker(tmp_path: Path) -> None:
    async with supervised(tmp_path, SILENT) as supervisor:
        assert await speech_of(supervisor, "one @sleep=2.5 two") == spoken("one two")
        assert supervisor.restarts == 0


async def test_a_long_text_has_a_longer_deadline(tmp_path: Path) -> None:
    timings = replace(QUICK, job_base_s=0.0, job_per_character_s=0.1)
    async with supervised(tmp_path, timings) as supervisor:
        await supervisor.warm()
        assert (await failure_of(supervisor, "@hang")).code is Code.ENGINE_TIMEOUT
        assert await speech_of(supervisor, "@sleep=0.8 a long long text") == spoken("a long long text")


async def test_an_engine_error_is_not_tried_again(tmp_path: Path) -> None:
    async with supervised(tmp_path) as supervisor:
        error = await failure_of(supervisor, "one @refuse")
        assert (error.code, error.message) == (Code.ENGINE_FAILED, "there is nothing to say in this")
        assert (supervisor.state, supervisor.restarts) == (State.READY, 0)


async def test_ready_never_comes(tmp_path: Path) -> None:
    async with supervised(tmp_path, replace(QUICK, ready_s=0.6), engine="never-ready") as supervisor:
        error = await failure_of(supervisor, "one")
        assert error.code is Code.ENGINE_TIMEOUT
        assert supervisor.pid is None
        with pytest.raises(AnnouncementError, match=r"did not answer within 0\.6 s"):
            await supervisor.warm()


async def test_an_engine_that_misses_something_says_what_after_one_try(tmp_path: Path) -> None:
    async with supervised(tmp_path, engine="missing") as supervisor:
        error = await failure_of(supervisor, "one")
        assert (error.code, error.message) == (
            Code.ENGINE_FAILED,
            "a model is missing: pip install the-model",
        )
        assert supervisor.restarts == 0


async def test_five_crashes_in_a_row_fail_the_engine_until_it_has_cooled_down(tmp_path: Path) -> None:
    async with supervised(tmp_path, backoff=STRICT) as supervisor:
        await failure_of(supervisor, "@exit")
        await failure_of(supervisor, "@exit")
        error = await failure_of(supervisor, "@exit")  # the fifth crash; no second attempt
        assert error.message.startswith("the speech engine failed 5 times in a row and is tried again in 1 s")
        assert (supervisor.state, supervisor.restarts) == (State.FAILED, 4)
        began = time.monotonic()
        assert (await failure_of(supervisor, "one")).code is Code.ENGINE_FAILED
        assert time.monotonic() - began < 0.05  # at once
        await asyncio.sleep(STRICT.cool_down_s)
        assert await speech_of(supervisor, "one") == spoken("one")
        assert supervisor.state is State.READY


async def test_a_success_forgets_earlier_crashes(tmp_path: Path) -> None:
    async with supervised(tmp_path, backoff=STRICT) as supervisor:
        for _ in range(3):
            await failure_of(supervisor, "@exit")
            assert await speech_of(supervisor, "one") == spoken("one")


async def test_a_frozen_idle_worker_is_found_by_a_ping(tmp_path: Path) -> None:
    async with supervised(tmp_path) as supervisor:
        assert await supervisor.ping() is None
        await supervisor.warm()
        round_trip_s = await supervisor.ping()
        assert round_trip_s is not None
        assert round_trip_s < 0.5  # a millisecond, on a machine that does nothing else
        signal_worker(supervisor, signal.SIGSTOP)
        frozen = psutil.Process(supervisor.pid)
        await until(lambda: frozen.status() == psutil.STATUS_STOPPED)
        with pytest.raises(ChildTimeout, match=r"did not answer a ping within 0\.3 s"):
            await supervisor.ping(0.3)
        assert (supervisor.pid, supervisor.state) == (None, State.STOPPED)
        assert await speech_of(supervisor, "one") == spoken("one")


async def test_a_frozen_busy_worker_is_found_by_a_ping_and_its_job_is_tried_again(tmp_path: Path) -> None:
    async with supervised(tmp_path) as supervisor:
        hearing = asyncio.create_task(speech_of(supervisor, "one @once:freeze two"))
        await until((tmp_path / "freeze").exists)
        with pytest.raises(ChildTimeout):
            await supervisor.ping(0.3)
        assert await hearing == spoken("one two")
