"""A real child process each; the failure mode is in the test's name."""

import asyncio
import logging
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from daemon.children.child import Child, ChildError, ChildRefused, ChildTimeout
from daemon.children.frames import NotReady, Ready
from tests.fakes.child import CODEC, Say

SOON_S = 10.0

Message = Ready | NotReady | Say


def child_of(*steps: str, env: dict[str, str] | None = None) -> Child[Message]:
    return Child("fake", "tests.fakes.child", steps, CODEC, env)


@asynccontextmanager
async def started(*steps: str) -> AsyncIterator[Child[Message]]:
    child = child_of(*steps)
    await child.start(SOON_S)
    try:
        yield child
    finally:
        await child.kill()


async def test_it_answers_until_its_stdin_ends() -> None:
    child = child_of("ready", "echo")
    ready = await child.start(SOON_S)
    assert ready.details == {"pid": child.pid}
    assert child.rss_bytes > 2**20
    await child.send(Say("hello"))
    assert await child.receive(SOON_S) == Say("hello")
    began = time.monotonic()
    await child.stop(grace_s=SOON_S)
    assert time.monotonic() - began < SOON_S / 2
    assert (child.alive, child.pid, child.rss_bytes) == (False, None, 0)


async def test_it_can_be_started_again() -> None:
    child = child_of("ready", "echo")
    pids = set()
    for _ in range(3):
        await child.start(SOON_S)
        pids.add(child.pid)
        await child.stop()
    assert len(pids) == 3


async def test_ready_never_comes() -> None:
    child = child_of("stubborn")
    with pytest.raises(ChildTimeout, match="did not answer within"):
        await child.start(1.0)
    assert not child.alive


async def test_another_message_comes_before_ready() -> None:
    with pytest.raises(ChildError, match="sent Say before it was ready"):
        await child_of("say=hello", "stubborn").start(SOON_S)


async def test_it_refuses_with_a_reason() -> None:
    with pytest.raises(ChildRefused, match=r"^no such device$"):
        await child_of("refuse=no such device").start(SOON_S)


async def test_it_exits_before_ready() -> None:
    with pytest.raises(ChildError, match=r"ended \(exit code 7\)"):
        await child_of("exit=7").start(SOON_S)


async def test_it_is_cancelled_while_it_starts() -> None:
    child = child_of("stubborn")
    starting = asyncio.create_task(child.start(SOON_S))
    await asyncio.sleep(0.1)
    assert child.alive
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert child.pid is None


async def test_there_is_no_such_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nonexistent/python")
    with pytest.raises(ChildError, match="could not be started"):
        await child_of("ready").start(SOON_S)


async def test_it_is_killed_while_it_is_waited_for() -> None:
    async with started("ready", "stubborn") as child:
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        with pytest.raises(ChildError, match="killed by signal 9"):
            await child.receive(SOON_S)
        with pytest.raises(ChildError, match="not running"):
            await child.send(Say("anyone there?"))


@pytest.mark.parametrize("step", ["garbage", "truncate", "foreign"])
async def test_it_breaks_the_protocol(step: str) -> None:
    async with started("ready", step, "exit=0") as child:
        with pytest.raises(ChildError, match="broke the protocol"):
            await child.receive(SOON_S)


async def test_a_time_out_inside_a_frame_loses_nothing() -> None:
    async with started("ready", "slowly=hello", "say=next", "stubborn") as child:
        time_outs = 0
        while True:
            try:
                message = await child.receive(0.1)
                break
            except ChildTimeout:
                time_outs += 1
        assert message == Say("hello")
        assert time_outs > 0
        assert await child.receive(SOON_S) == Say("next")


async def test_it_takes_no_messages_any_more() -> None:
    async with started("ready", "freeze") as child:
        with pytest.raises(ChildTimeout, match="took nothing"):
            await child.send(Say("x" * 1_000_000), deadline_s=0.5)


async def test_it_does_not_leave_when_asked() -> None:
    async with started("ready", "stubborn") as child:
        began = time.monotonic()
        await child.stop(grace_s=0.3)
        assert 0.3 <= time.monotonic() - began < 3.0
        assert not child.alive


async def test_it_is_stopped_while_nobody_reads_what_it_says() -> None:
    async with started("ready", "flood", "stubborn") as child:
        await asyncio.sleep(0.3)
        await asyncio.wait_for(child.kill(), 5.0)
        assert not child.alive


async def test_a_grandchild_holds_its_stderr_open() -> None:
    async with started("ready", "orphan=4", "stubborn") as child:
        descriptors_before = psutil.Process().num_fds()
        await asyncio.wait_for(child.kill(), 3.0)
        await asyncio.sleep(0.1)
        assert psutil.Process().num_fds() <= descriptors_before - 3


async def test_it_is_stopped_by_two_at_once() -> None:
    async with started("ready", "stubborn") as child:
        await asyncio.gather(child.stop(0.2), child.kill(), child.kill())
        assert not child.alive


async def test_what_it_prints_is_logged_and_no_frame(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with started("ready", "print=a careless library", "say=hello", "stubborn") as child:
        assert await child.receive(SOON_S) == Say("hello")
    assert "fake: a careless library" in caplog.messages
    assert "fake: written to file descriptor 1" in caplog.messages


async def test_its_last_words_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with started("ready", "complain=out of memory", "exit=1") as child:
        with pytest.raises(ChildError, match="exit code 1"):
            await child.receive(SOON_S)
    assert "fake: out of memory" in caplog.messages


async def test_a_line_over_the_limit_does_not_silence_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    steps = ("ready", "complain=" + "x" * 100_000, "complain=and on", "exit=0")
    async with started(*steps) as child:
        with pytest.raises(ChildError):
            await child.receive(SOON_S)
    assert "fake: and on" in caplog.messages
    assert max(map(len, caplog.messages)) < 3000


async def test_it_gets_its_environment(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    child = child_of("exit=0", env={"PYTHONPATH": str(tmp_path), "PYTHONSAFEPATH": "1"})
    with pytest.raises(ChildError, match="exit code 1"):  # no module `tests` there
        await child.start(SOON_S)


async def test_fifty_starts_leak_no_file_descriptor() -> None:
    descriptors = []
    for _ in range(50):
        async with started("ready", "stubborn"):
            pass
        await asyncio.sleep(0)
        descriptors.append(psutil.Process().num_fds())
    assert max(descriptors[1:]) <= descriptors[0]
