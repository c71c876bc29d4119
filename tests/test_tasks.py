"""A fault in one task stops nothing else."""

import asyncio

import pytest

from daemon.tasks import Tasks


async def test_a_loop_that_fails_is_started_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("daemon.tasks.RESTART_PAUSE_S", 0.01)
    runs = 0
    third = asyncio.Event()

    async def loop() -> None:
        nonlocal runs
        runs += 1
        if runs < 3:
            raise ValueError("a fault")
        third.set()
        await asyncio.sleep(60)

    tasks = Tasks()
    tasks.keep("loop", loop)
    async with asyncio.timeout(5):
        await third.wait()
    await tasks.stop()
    assert [record.message for record in caplog.records] == ["loop failed and is started again"] * 2


async def test_stop_waits_for_the_end_of_all() -> None:
    ended = []

    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)
            ended.append(True)

    tasks = Tasks()
    tasks.spawn("slow", slow())
    await asyncio.sleep(0)
    await tasks.stop()
    assert ended == [True]
