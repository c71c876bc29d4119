"""Requests and commands keep the order in which they were sent."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest

from daemon.audio import given
from daemon.hermes.messages import Asker
from daemon.jobs.fallback import FallbackJournal
from daemon.jobs.journal import JournalError
from daemon.jobs.ledger import Ledger
from daemon.jobs.queue import JobQueue
from daemon.jobs.reception import Play, Reception, Say
from daemon.mqtt.link import Link
from daemon.mqtt.results import Results
from daemon.mqtt.topics import Topics
from daemon.mqtt.traffic import Delivery
from daemon.storage.phrases import PhraseCache
from tests.audio.test_given import a_wav
from tests.fakes.link import FakeLink
from tests.jobs.samples import FakeClock
from tests.mqtt.test_intake import DEFAULTS


class Door:
    """A reception with its neighbours."""

    def __init__(self, folder: Path, room: int) -> None:
        clock = FakeClock()
        self.link = FakeLink()
        self.queue = JobQueue(room, clock)
        self.journal = FallbackJournal(folder / "journal.sqlite")
        self.ledger = Ledger(self.journal, clock)
        link = cast(Link, self.link)
        results = Results(link, Topics("cosyvoice", "test"), self.ledger, clock)
        self.reception = Reception(
            link,
            self.ledger,
            self.queue,
            results,
            lambda: DEFAULTS,
            lambda *_: None,
            lambda: None,
            PhraseCache(folder / "phrases"),
            clock,
        )

    def deliver(self, payload: bytes) -> None:
        self.reception.deliver(Say(a_delivery(payload), None))


@asynccontextmanager
async def a_door(folder: Path, room: int = 10) -> AsyncIterator[Door]:
    door = Door(folder, room)
    await door.ledger.start()
    running = asyncio.create_task(door.reception.run())
    try:
        yield door
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await door.ledger.stop()


def a_delivery(payload: bytes) -> Delivery:
    return Delivery(
        topic="cosyvoice/test/say", payload=payload, qos=1, retain=False, dup=False, mid=1, connection=1
    )


async def test_a_mark_stands_between_what_was_sent_before_and_after(tmp_path: Path) -> None:
    async with a_door(tmp_path) as door:
        door.deliver(b'{"id":"before","text":"one"}')
        mark = door.reception.mark()
        door.deliver(b'{"id":"after","text":"two"}')
        async with asyncio.timeout(10):
            await mark
        assert [entry.job.id for entry in door.queue.clear()] == ["before"]
        async with asyncio.timeout(10):
            await door.reception.mark()
        assert [entry.job.id for entry in door.queue.clear()] == ["after"]


async def test_sounds_that_come_too_fast_are_refused_and_the_others_kept(tmp_path: Path) -> None:
    async with a_door(tmp_path) as door:
        (tmp_path / "phrases").mkdir()
        sound = a_delivery(a_wav(bytes(given.MAX_BYTES - 44)))
        for number in range(6):
            door.reception.deliver(Play(sound, Asker(kind="play", site_id="test", id=str(number))))
        async with asyncio.timeout(20):
            await door.reception.mark()
        assert [entry.job.asker.id for entry in door.queue.clear() if entry.job.asker] == ["0", "1", "2", "3"]
        ended = [told["id"] for topic, told, _ in door.link.sent if topic.endswith("playFinished")]
        assert ended == ["4", "5"]
        assert len(door.link.acknowledged) == 6


async def test_a_payload_that_hides_half_a_surrogate_pair_costs_itself_only(tmp_path: Path) -> None:
    async with a_door(tmp_path) as door:
        door.deliver(b'{"id":"bad","volume":["\\ud800"],"text":"hi"}')
        door.deliver(b'{"id":"good","text":"hi"}')
        async with asyncio.timeout(10):
            await door.reception.mark()
        assert door.link.events("bad") == ["rejected"]
        assert door.link.events("good") == ["accepted"]
        assert len(door.link.acknowledged) == 2


async def test_a_full_queue_on_a_full_disk_still_answers_and_acknowledges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_door(tmp_path, room=1) as door:

        def fail(_journal: FallbackJournal, _seqs: object) -> None:
            raise JournalError("the disk is full")

        monkeypatch.setattr(FallbackJournal, "withdraw", fail)
        for number in (b"1", b"2"):
            door.deliver(b'{"id":"%s","text":"hi"}' % number)
        async with asyncio.timeout(10):
            await door.reception.mark()
        assert door.link.events("2") == ["rejected"]
        assert len(door.link.acknowledged) == 2
