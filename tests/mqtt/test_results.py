"""A final result is told until the broker has it: after a full queue, an outage, a restart."""

import asyncio
from pathlib import Path
from typing import Any, cast

from daemon.jobs.fallback import FallbackJournal
from daemon.jobs.journal import Entry
from daemon.jobs.ledger import Ledger
from daemon.mqtt.link import Link
from daemon.mqtt.messages import Event
from daemon.mqtt.results import Results
from daemon.mqtt.topics import Topics
from tests.fakes.link import FakeLink
from tests.jobs.samples import FakeClock, a_job

TOPICS = Topics("cosyvoice", "test")


class Bench:
    def __init__(self, folder: Path, link: FakeLink) -> None:
        self.clock = FakeClock()
        self.link = link
        self.ledger = Ledger(FallbackJournal(folder / "journal.sqlite"), self.clock)
        self.results = Results(cast(Link, link), TOPICS, self.ledger, self.clock)

    async def finish(self, *names: str, **job: Any) -> None:
        entries = await self.ledger.accept([(a_job(self.clock, id=name, **job), False) for name in names])
        ended = [entry for entry in entries if isinstance(entry, Entry)]
        await self.results.final(
            [(entry, self.results.describe(entry.job, Event.FINISHED)) for entry in ended]
        )

    async def untold(self) -> list[str]:
        await asyncio.sleep(0)
        await self.results.confirm()
        return [job.id for _, job, _ in await self.ledger.untold()]


async def test_a_result_is_untold_until_the_broker_has_it(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeLink())
    await bench.ledger.start()
    await bench.finish("a")
    assert await bench.untold() == ["a"]
    bench.link.deliver()
    assert await bench.untold() == []
    await bench.ledger.stop()


async def test_a_restart_tells_again_what_the_broker_did_not_take(tmp_path: Path) -> None:
    first = Bench(tmp_path, FakeLink())
    await first.ledger.start()
    await first.finish("a")
    await first.ledger.stop()
    second = Bench(tmp_path, FakeLink())
    await second.ledger.start()
    await second.results.tell_again()
    assert [result["id"] for _, result, _ in second.link.sent] == ["a"]
    await second.results.tell_again()
    assert len(second.link.sent) == 1, "what is under way is not told twice"
    await second.ledger.stop()


async def test_what_found_no_room_is_told_once_there_is_some(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeLink(room=2))
    await bench.ledger.start()
    loop = asyncio.create_task(bench.results.run())
    await bench.finish("a", "b", "c", "d", "e")
    async with asyncio.timeout(10):
        while await bench.untold():
            bench.link.deliver()
            await asyncio.sleep(0.05)
    loop.cancel()
    await asyncio.gather(loop, return_exceptions=True)
    assert sorted(result["id"] for _, result, _ in bench.link.sent) == ["a", "b", "c", "d", "e"]
    await bench.ledger.stop()


async def test_the_reply_topic_gets_the_same_with_correlation_data(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeLink())
    await bench.ledger.start()
    await bench.finish("a", reply_to="home/replies", correlation_data=b"\x01")
    (reply, own) = bench.link.sent
    assert (reply[0], reply[2]) == ("home/replies", b"\x01")
    assert (own[0], own[2]) == (TOPICS.result, None)
    assert reply[1] == own[1]
    await bench.ledger.stop()


async def test_what_the_broker_has_but_the_journal_does_not_know_yet_is_not_told_twice(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path, FakeLink())
    await bench.ledger.start()
    await bench.finish("a")
    bench.link.deliver()
    await asyncio.sleep(0)
    await bench.results.tell_again()
    assert len(bench.link.sent) == 1
    assert await bench.untold() == []
    await bench.ledger.stop()


async def test_a_reply_that_cannot_be_sent_does_not_cost_the_result(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeLink(refuses="home/replies"))
    await bench.ledger.start()
    await bench.finish("a", reply_to="home/replies")
    bench.link.deliver()
    assert [topic for topic, _, _ in bench.link.sent] == [TOPICS.result]
    assert await bench.untold() == []
    await bench.ledger.stop()
