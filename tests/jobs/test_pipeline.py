"""One job after the other, and who may cut one off when."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

from daemon.jobs.announcer import Announcer
from daemon.jobs.fallback import FallbackJournal
from daemon.jobs.journal import Entry
from daemon.jobs.ledger import Ledger
from daemon.jobs.pipeline import Pipeline
from daemon.jobs.queue import JobQueue
from daemon.mqtt.link import Link
from daemon.mqtt.messages import Event, Result
from daemon.mqtt.results import Results
from daemon.mqtt.topics import Topics
from daemon.tasks import to_its_end
from tests.fakes.link import FakeLink
from tests.jobs.samples import FakeClock, a_job

FADE_S = 0.05


class FakeAnnouncer:
    """Speaks until it is told that all was heard, fades out when cut off, and files what was heard."""

    def __init__(self) -> None:
        self.spoken: list[str] = []
        self.heard = asyncio.Event()
        self.filed = asyncio.Event()
        self.results: Results

    async def make(self, entry: Entry) -> Result:
        self.spoken.append(entry.job.id)
        try:
            await self.heard.wait()
        except asyncio.CancelledError:
            await asyncio.sleep(FADE_S)
            raise
        await to_its_end(asyncio.create_task(self.filed.wait()))
        return self.results.describe(entry.job, Event.FINISHED)


class Stage:
    """A pipeline with its neighbours."""

    def __init__(self, folder: Path) -> None:
        self.clock = FakeClock()
        self.link = FakeLink()
        self.queue = JobQueue(10, self.clock)
        self.ledger = Ledger(FallbackJournal(folder / "journal.sqlite"), self.clock)
        self.results = Results(cast(Link, self.link), Topics("cosyvoice", "test"), self.ledger, self.clock)
        self.announcer = FakeAnnouncer()
        self.announcer.results = self.results
        self.pipeline = Pipeline(
            self.queue, self.ledger, self.results, cast(Announcer, self.announcer), lambda: None
        )

    async def start(self) -> None:
        await self.ledger.start()
        self.task = asyncio.create_task(self.pipeline.run())

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)

    async def say(self, name: str) -> Entry:
        (entry,) = await self.ledger.accept([(a_job(self.clock, id=name), False)])
        assert isinstance(entry, Entry)
        self.queue.admit(entry)
        await eventually(lambda: self.announcer.spoken[-1:] == [name])
        assert self.queue.current is not None
        return self.queue.current

    async def open_jobs(self) -> list[str]:
        return [entry.job.id for entry in await self.ledger.open_jobs()]


async def eventually(condition: Callable[[], bool]) -> None:
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not happen")


@asynccontextmanager
async def a_stage(folder: Path) -> AsyncIterator[Stage]:
    stage = Stage(folder)
    await stage.start()
    try:
        yield stage
    finally:
        await stage.stop()
        await stage.ledger.stop()


async def test_what_is_cut_off_to_be_said_later_is_said_again(tmp_path: Path) -> None:
    async with a_stage(tmp_path) as stage:
        stage.pipeline.interrupt(await stage.say("a"), "postpone")
        await eventually(lambda: stage.announcer.spoken == ["a", "a"])
        assert stage.link.events("a") == []


async def test_a_cancel_counts_while_what_is_postponed_fades_out(tmp_path: Path) -> None:
    async with a_stage(tmp_path) as stage:
        entry = await stage.say("a")
        stage.pipeline.interrupt(entry, "postpone")
        stage.pipeline.interrupt(entry, "stop")
        await eventually(lambda: stage.link.events("a") == ["cancelled"])
        assert stage.announcer.spoken == ["a"]
        assert len(stage.queue) == 0


async def test_what_is_stopped_is_not_postponed_afterwards(tmp_path: Path) -> None:
    async with a_stage(tmp_path) as stage:
        entry = await stage.say("a")
        stage.pipeline.interrupt(entry, "stop")
        stage.pipeline.interrupt(entry, "postpone")
        await eventually(lambda: stage.link.events("a") == ["cancelled"])
        assert stage.announcer.spoken == ["a"]


async def test_what_was_heard_is_not_postponed_while_its_file_is_written(tmp_path: Path) -> None:
    async with a_stage(tmp_path) as stage:
        entry = await stage.say("a")
        stage.announcer.heard.set()
        await asyncio.sleep(0.01)
        stage.pipeline.interrupt(entry, "postpone")
        await asyncio.sleep(0.01)
        stage.announcer.filed.set()
        await eventually(lambda: stage.link.events("a") == ["finished"])
        assert stage.announcer.spoken == ["a"]


async def test_what_was_heard_when_the_daemon_stops_is_not_said_at_the_next_start(tmp_path: Path) -> None:
    async with a_stage(tmp_path) as stage:
        await stage.say("a")
        stage.announcer.heard.set()
        await asyncio.sleep(0.01)
        stopping = asyncio.create_task(stage.stop())
        await asyncio.sleep(0.01)
        stage.announcer.filed.set()
        await stopping
        assert await stage.open_jobs() == []
        assert stage.link.events("a") == ["finished"]


async def test_what_was_not_heard_when_the_daemon_stops_stays_in_the_journal(tmp_path: Path) -> None:
    async with a_stage(tmp_path) as stage:
        await stage.say("a")
        await stage.stop()
        assert await stage.open_jobs() == ["a"]
        assert stage.link.events("a") == []
