"""What follows from the sensors: engines are unloaded, jobs wait, and somebody is told, once each."""

import asyncio
from pathlib import Path
from typing import cast

import pytest

from daemon.config import Watch
from daemon.jobs.job import Priority
from daemon.jobs.journal import Entry
from daemon.jobs.queue import JobQueue
from daemon.synthesis.engine import VoiceInfo
from daemon.synthesis.engines import Engines
from daemon.synthesis.facts import EngineFacts
from daemon.synthesis.supervisor import State, Supervisor
from daemon.watch.guard import Guard
from daemon.watch.metrics import Metrics
from tests.jobs.samples import FakeClock, an_entry

MIB = 2**20


class FakeSupervisor:
    def __init__(self, name: str) -> None:
        self.engine = name
        self.state = State.READY
        self.pid: int | None = 1
        self.rss_bytes = 100 * MIB
        self.failed_for_s = 0.0
        self.unloaded: list[bool] = []

    async def unload(self, wait_for_job: bool = True) -> None:
        self.unloaded.append(wait_for_job)
        self.pid = None
        self.rss_bytes = 0


def facts(name: str, voice: str, memory_bytes: int = 0) -> EngineFacts:
    info = VoiceInfo(name=voice, engine=name, languages=("en",), gender="f")
    return EngineFacts(name, "1", {voice: info}, lambda *_: (voice, ()), memory_bytes=memory_bytes)


HEAVY, LIGHT = facts("heavy", "mama", 1000 * MIB), facts("light", "heart")


class Device:
    """A guard over a fake tree, with two engines and a queue."""

    def __init__(self, root: Path, max_worker_mib: int = 0) -> None:
        self.root = root
        self.heavy, self.light = FakeSupervisor("heavy"), FakeSupervisor("light")
        supervisors = {"heavy": cast(Supervisor, self.heavy), "light": cast(Supervisor, self.light)}
        self.engines = Engines((HEAVY, LIGHT), supervisors)
        self.queue = JobQueue(10, FakeClock())
        self.metrics = Metrics()
        self.changes = 0
        limits = Watch(root=str(root), rise_s=0.0, dwell_s=0.0)
        self.guard = Guard(
            limits,
            max_worker_mib,
            self.engines,
            self.queue,
            lambda job: job.text == "cached",
            self.metrics,
            self._changed,
        )
        self.queue.restrain(self.guard.must_wait)

    def _changed(self) -> None:
        self.changes += 1

    async def at(self, celsius: float, free_mib: int = 4000) -> None:
        zone = self.root / "sys/class/thermal/thermal_zone0"
        zone.mkdir(parents=True, exist_ok=True)
        (zone / "type").write_text("cpu-thermal")
        (zone / "temp").write_text(str(int(celsius * 1000)))
        (self.root / "proc").mkdir(exist_ok=True)
        (self.root / "proc/meminfo").write_text(f"MemAvailable: {free_mib * 1024} kB\n")
        await self.guard.look()
        await asyncio.sleep(0)

    async def next(self) -> Entry | None:
        try:
            async with asyncio.timeout(0.05):
                return await self.queue.next()
        except TimeoutError:
            return None


async def test_up_and_down_the_whole_ladder(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    device = Device(tmp_path)
    await device.at(60)
    assert (device.engines.gentle, device.engines.preferred.engine, device.changes) == (False, "heavy", 0)
    await device.at(76)
    assert (device.engines.gentle, device.engines.preferred.engine) == (True, "heavy")
    await device.at(81)
    assert (device.heavy.unloaded, device.light.unloaded) == ([True], [])
    assert device.engines.preferred.engine == "light"
    assert device.engines.refusal(HEAVY) == "the device is hot: the processor is at 81.0 °C"
    assert device.engines.refusal(LIGHT) is None
    await device.at(82)
    assert device.changes == 2
    await device.at(60)
    assert (device.engines.gentle, device.engines.refusal(HEAVY), device.changes) == (False, None, 3)
    lines = [record.getMessage() for record in caplog.records]
    assert lines == [
        "throttle: warm, since the processor is at 76.0 °C",
        "throttle: hot, since the processor is at 81.0 °C",
    ]


async def test_when_critical_only_important_and_cached_ones_begin_and_the_rest_waits(tmp_path: Path) -> None:
    device = Device(tmp_path)
    await device.at(85)
    device.queue.admit(an_entry(1))
    assert await device.next() is None
    held = device.queue.held_because(an_entry(1))
    assert held is not None
    assert (held.code, held.message) == ("throttled", "the device is critical: the processor is at 85.0 °C")
    device.queue.admit(an_entry(2, text="cached"))
    device.queue.admit(an_entry(3, priority=Priority.IMPORTANT))
    for seq in (3, 2):
        entry = await device.next()
        assert entry is not None
        assert entry.seq == seq
        device.queue.done()
    waiting = asyncio.create_task(device.queue.next())
    await asyncio.sleep(0.01)
    assert not waiting.done()
    await device.at(60)
    assert (await waiting).seq == 1


async def test_while_every_engine_cools_down_after_failures_jobs_wait_for_it(tmp_path: Path) -> None:
    device = Device(tmp_path)
    await device.at(50)
    device.heavy.state = device.light.state = State.FAILED
    device.light.failed_for_s = 40.0
    device.queue.admit(an_entry(1, priority=Priority.IMPORTANT))
    assert await device.next() is None
    held = device.queue.held_because(an_entry(1))
    assert held is not None
    assert (held.code, "tried again in 40 s" in held.message) == ("engine_failed", True)
    device.light.state = State.STOPPED
    await device.at(50)
    entry = await device.next()
    assert entry is not None


async def test_without_memory_the_running_job_is_cut_and_every_worker_ends(tmp_path: Path) -> None:
    device = Device(tmp_path)
    await device.at(50, free_mib=50)
    assert (device.heavy.unloaded, device.light.unloaded) == ([False], [True])


async def test_a_worker_that_grew_too_large_is_replaced_once_and_counted(tmp_path: Path) -> None:
    device = Device(tmp_path)
    device.heavy.rss_bytes = 1500 * MIB
    await device.at(50)
    assert device.heavy.unloaded == []
    device.heavy.rss_bytes += 1
    await device.at(50)
    await device.at(50)
    assert device.heavy.unloaded == [True]
    report = device.metrics.report(0, worker_restarts=0, broker_connections=0)
    assert report.workers_recycled == 1


async def test_the_size_of_a_worker_can_be_configured(tmp_path: Path) -> None:
    device = Device(tmp_path, max_worker_mib=50)
    await device.at(50)
    assert (device.heavy.unloaded, device.light.unloaded) == ([True], [True])
