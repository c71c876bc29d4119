"""A fault in one task stops nothing else."""

import asyncio
import threading

import pytest

from daemon.tasks import Lookout, Tasks


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


async def test_a_look_that_hangs_is_late_and_is_not_begun_a_second_time() -> None:
    go_on, looks = threading.Event(), 0

    def look(answer: str) -> str:
        nonlocal looks
        looks += 1
        go_on.wait(10)
        return answer

    lookout = Lookout(look)
    for _ in range(2):
        with pytest.raises(TimeoutError):
            await lookout.look(0.05, "first")
    go_on.set()
    assert await lookout.look(5.0, "second") == "first"
    assert looks == 1
    assert await lookout.look(5.0, "third") == "third"
