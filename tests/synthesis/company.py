"""A supervisor with the scripted engine in a real worker process, and what the tests ask of it."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from daemon.synthesis.backoff import Backoff
from daemon.synthesis.engine import EngineOptions, SynthesisRequest
from daemon.synthesis.supervisor import Supervisor
from daemon.synthesis.timings import Timings

SOON_S = 10.0
POLL_S = 0.005
QUICK = Timings(ready_s=SOON_S, job_base_s=SOON_S, job_per_character_s=0.0, silence_s=SOON_S, cancel_s=1.0)
PATIENT = Backoff(limit=1000, second_delay_s=0.0)  # for tests that are not about the back-off


def fake_options(state_dir: Path) -> EngineOptions:
    return EngineOptions(state_dir=state_dir, threads=1, model_dir=state_dir / "model", quality="balanced")


@asynccontextmanager
async def supervised(
    state_dir: Path, timings: Timings = QUICK, backoff: Backoff = PATIENT, engine: str = "fake"
) -> AsyncIterator[Supervisor]:
    supervisor = Supervisor(engine, fake_options(state_dir), timings, backoff, module="tests.fakes.engine")
    await supervisor.start()
    try:
        yield supervisor
    finally:
        await supervisor.stop()


def request(text: str) -> SynthesisRequest:
    return SynthesisRequest(text=text, language="en", voice="fake")


async def speech_of(supervisor: Supervisor, text: str) -> bytes:
    """All samples of one announcement."""
    return b"".join([piece.pcm async for piece in supervisor.synthesize(request(text))])


async def until(condition: Callable[[], bool]) -> None:
    """Returns as soon as `condition` holds."""
    for _ in range(int(SOON_S / POLL_S)):
        if condition():
            return
        await asyncio.sleep(POLL_S)
    raise AssertionError(f"what the test waits for did not happen within {SOON_S:g} s")


async def kill_worker(supervisor: Supervisor) -> None:
    """Kills the worker, if one runs, and returns when the supervisor has seen it go."""
    pid = supervisor.pid
    if pid is not None:
        os.kill(pid, signal.SIGKILL)
        await until(lambda: supervisor.pid != pid)


def signal_worker(supervisor: Supervisor, signal_number: int) -> None:
    assert supervisor.pid is not None
    os.kill(supervisor.pid, signal_number)
