"""The worker process alone, spoken to in frames."""

import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import psutil
import pytest

from daemon.children.child import Child, ChildError, ChildRefused
from daemon.children.frames import Ready
from daemon.synthesis.engine import SynthesisRequest
from daemon.synthesis.protocol import (
    FROM_WORKER,
    Cancel,
    Failed,
    Ping,
    Pong,
    Speech,
    Spoken,
    Synthesize,
    WorkerMessage,
)
from daemon.synthesis.worker import NICENESS, to_pcm
from tests.fakes.engine import ALLOCATED_BYTES, SAMPLE_RATE_HZ, sine
from tests.synthesis.company import SOON_S, until


def worker_with(engine: str, state_dir: Path) -> Child[WorkerMessage]:
    arguments = ("--engine", engine, "--state", str(state_dir), "--threads", "3")
    return Child("worker", "tests.fakes.engine", arguments, FROM_WORKER)


@asynccontextmanager
async def worker(state_dir: Path) -> AsyncIterator[Child[WorkerMessage]]:
    child = worker_with("fake", state_dir)
    await child.start(SOON_S)
    try:
        yield child
    finally:
        await child.kill()


def say(text: str, job: int = 1) -> Synthesize:
    return Synthesize(job, SynthesisRequest(text=text, language="en", voice="fake"))


async def until_the_end(child: Child[WorkerMessage]) -> tuple[list[Speech], Spoken | Failed]:
    pieces = []
    while True:
        match await child.receive(SOON_S):
            case Speech() as piece:
                pieces.append(piece)
            case (Spoken() | Failed()) as end:
                return pieces, end


async def test_it_says_what_it_is(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    child = worker_with("fake", tmp_path)
    ready = await child.start(SOON_S)
    await child.stop()
    assert ready == Ready({"engine": "fake", "version": "1", "sample_rate_hz": SAMPLE_RATE_HZ})
    assert "worker: INFO loading the fake engine with 3 threads" in caplog.messages


async def test_it_speaks_piece_by_piece(tmp_path: Path) -> None:
    async with worker(tmp_path) as child:
        await child.send(say("one @sleep=0.2 two", job=5))
        pieces, end = await until_the_end(child)
    assert [piece.pcm for piece in pieces] == [sine("one"), sine("two")]
    assert pieces[0].synthesis_s < 0.2 <= pieces[1].synthesis_s
    assert end == Spoken(5)


async def test_a_print_inside_the_engine_is_no_frame(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with worker(tmp_path) as child:
        await child.send(say("one @print @read two"))
        pieces, end = await until_the_end(child)
    assert [piece.pcm for piece in pieces] == [sine("one"), sine("two")]
    assert end == Spoken(1)
    for origin in ("printed by Python", "written to file descriptor 1", "printed by a child"):
        assert f"worker: {origin}" in caplog.messages


async def test_an_engine_error_fails_the_job_and_not_the_worker(tmp_path: Path) -> None:
    async with worker(tmp_path) as child:
        await child.send(say("one @refuse", job=1))
        pieces, end = await until_the_end(child)
        assert (len(pieces), end) == (1, Failed(1, "there is nothing to say in this"))
        await child.send(say("two", job=2))
        assert (await until_the_end(child))[1] == Spoken(2)


async def test_a_bug_in_the_engine_ends_the_worker(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with worker(tmp_path) as child:
        await child.send(say("one @bug"))
        _, end = await until_the_end(child)
        assert end == Failed(1, "the engine broke: ValueError: a bug in the engine", broken=True)
        with pytest.raises(ChildError, match="exit code 1"):
            await child.receive(SOON_S)
    assert "worker: Traceback (most recent call last):" in caplog.messages


async def test_a_ping_is_answered_while_the_engine_works(tmp_path: Path) -> None:
    async with worker(tmp_path) as child:
        await child.send(say("@spin=3"))
        await asyncio.sleep(0.1)
        began = time.monotonic()
        await child.send(Ping(9))
        pong = await child.receive(SOON_S)
        assert time.monotonic() - began < 0.5  # some milliseconds, on a machine that does nothing else
        assert isinstance(pong, Pong)
        assert pong.token == 9
        assert pong.rss_bytes == pytest.approx(child.rss_bytes, rel=0.1)


async def test_a_cancel_ends_the_job_early_and_the_next_one_is_whole(tmp_path: Path) -> None:
    async with worker(tmp_path) as child:
        await child.send(say("one @sleep=0.2 two three", job=1))
        assert await child.receive(SOON_S)
        await child.send(Cancel(1))
        pieces, end = await until_the_end(child)
        assert end == Spoken(1, cancelled=True)
        assert len(pieces) <= 1  # the one being made when the cancel came
        await child.send(say("four", job=2))
        assert (await until_the_end(child))[1] == Spoken(2)


async def test_a_late_cancel_does_not_end_the_next_job(tmp_path: Path) -> None:
    async with worker(tmp_path) as child:
        await child.send(say("one", job=1))
        await until_the_end(child)
        await child.send(Cancel(1))
        await child.send(say("two", job=2))
        assert (await until_the_end(child))[1] == Spoken(2)


@pytest.mark.parametrize("text", ["@hang", "one"])
async def test_it_leaves_at_once_when_its_stdin_ends(text: str, tmp_path: Path) -> None:
    async with worker(tmp_path) as child:
        await child.send(say(text))
        await asyncio.sleep(0.1)
        began = time.monotonic()
        await child.stop(grace_s=SOON_S)
        assert time.monotonic() - began < 1.0


async def test_it_leaves_when_the_daemon_is_killed(tmp_path: Path) -> None:
    """A process in between starts the worker, has it work, and is killed without a chance to tidy up."""
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from tests.synthesis.test_worker import SOON_S, say, worker_with\n"
        "async def main():\n"
        "    child = worker_with('fake', Path(sys.argv[1]))\n"
        "    await child.start(SOON_S)\n"
        "    await child.send(say('@hang'))\n"
        "    print(child.pid, flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    daemon = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    assert daemon.stdout is not None
    orphan = psutil.Process(int(await asyncio.wait_for(daemon.stdout.readline(), SOON_S)))
    daemon.kill()
    await daemon.wait()
    # In a container without an init nobody reaps it; psutil's `wait` would wait for that.
    await until(lambda: not orphan.is_running() or orphan.status() == psutil.STATUS_ZOMBIE)


async def test_it_leaves_when_the_daemon_talks_nonsense(tmp_path: Path) -> None:
    async with worker(tmp_path) as child:
        await child.send(Ready())
        with pytest.raises(ChildError, match="exit code 3"):
            await child.receive(SOON_S)


async def test_an_engine_that_misses_something_says_what(tmp_path: Path) -> None:
    with pytest.raises(ChildRefused, match=r"^a model is missing: pip install the-model$"):
        await worker_with("missing", tmp_path).start(SOON_S)


async def test_an_engine_that_breaks_while_it_loads_says_how(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with pytest.raises(ChildRefused, match="does not load: RuntimeError: the model is damaged"):
        await worker_with("unloadable", tmp_path).start(SOON_S)
    assert "worker: Traceback (most recent call last):" in caplog.messages


async def test_a_segfault_leaves_a_trace_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with worker(tmp_path) as child:
        await child.send(say("@segfault"))
        with pytest.raises(ChildError, match=f"killed by signal {signal.SIGSEGV.value}"):
            await child.receive(SOON_S)
    assert "worker: Fatal Python error: Segmentation fault" in caplog.messages


async def test_it_gives_way_to_the_rest_of_the_machine(tmp_path: Path) -> None:
    async with worker(tmp_path) as child:
        assert psutil.Process(child.pid).nice() == os.nice(0) + NICENESS


async def test_memory_of_a_job_returns_after_it(tmp_path: Path) -> None:
    async with worker(tmp_path) as child:
        before_bytes = child.rss_bytes
        await child.send(say("@litter one", job=1))
        await until_the_end(child)
        await child.send(Ping(1))
        await child.receive(SOON_S)
        await asyncio.sleep(0.3)
        assert child.rss_bytes - before_bytes < ALLOCATED_BYTES / 4


def test_samples_are_rounded_and_clipped() -> None:
    samples = np.array([0.0, 1.0, -1.0, 2.0, -2.0, 0.4 / 32767, 0.6 / 32767, -0.6 / 32767], np.float32)
    assert np.frombuffer(to_pcm(samples), "<i2").tolist() == [0, 32767, -32767, 32767, -32767, 0, 1, -1]


@pytest.mark.parametrize("samples", [np.array([0.0, np.nan]), np.array([np.inf]), np.zeros((2, 2))])
def test_what_is_no_mono_signal_is_an_error(samples: "np.typing.NDArray[np.float32]") -> None:
    with pytest.raises(ValueError, match="no mono signal"):
        to_pcm(samples.astype(np.float32))
