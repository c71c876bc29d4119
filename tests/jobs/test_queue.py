"""The queue: order, room, pause, and what an arrival does to those that wait."""

import asyncio

import pytest

from daemon.errors import AnnouncementError, Code
from daemon.jobs.job import Priority
from daemon.jobs.queue import JobQueue
from tests.jobs.samples import FakeClock, an_entry


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


async def test_order_and_current(clock: FakeClock) -> None:
    queue = JobQueue(10, clock)
    for entry in (an_entry(1), an_entry(2, Priority.IMPORTANT), an_entry(3)):
        queue.admit(entry)
    order = []
    for _ in range(3):
        entry = await queue.next()
        assert queue.current is entry
        order.append(entry.seq)
        queue.done()
    assert order == [2, 1, 3]


async def test_a_waiting_consumer_wakes_for_an_arrival(clock: FakeClock) -> None:
    queue = JobQueue(10, clock)
    consumer = asyncio.create_task(queue.next())
    await asyncio.sleep(0)
    queue.admit(an_entry(1))
    async with asyncio.timeout(1):
        assert (await consumer).seq == 1


async def test_a_full_queue_has_room_for_important_ones(clock: FakeClock) -> None:
    queue = JobQueue(2, clock)
    queue.admit(an_entry(1))
    queue.admit(an_entry(2))
    with pytest.raises(AnnouncementError) as error:
        queue.check_room(Priority.MESSAGE)
    assert error.value.code == Code.QUEUE_FULL
    queue.check_room(Priority.IMPORTANT)


async def test_paused_nothing_comes_out_until_resumed(clock: FakeClock) -> None:
    queue = JobQueue(10, clock)
    queue.pause()
    queue.admit(an_entry(1))
    consumer = asyncio.create_task(queue.next())
    await asyncio.sleep(0.05)
    assert not consumer.done()
    queue.resume()
    async with asyncio.timeout(1):
        assert (await consumer).seq == 1


async def test_what_is_stale_never_comes_out_and_is_handed_over(clock: FakeClock) -> None:
    queue = JobQueue(10, clock)
    queue.admit(an_entry(1, accepted_at=clock(), ttl_s=5.0))
    queue.admit(an_entry(2, accepted_at=clock(), ttl_s=50.0))
    clock.advance(6)
    assert (await queue.next()).seq == 2
    assert [entry.seq for entry in queue.take_stale()] == [1]
    assert len(queue) == 0


async def test_a_message_drops_waiting_text_and_notification(clock: FakeClock) -> None:
    queue = JobQueue(10, clock)
    queue.admit(an_entry(1, Priority.NOTIFICATION))
    queue.admit(an_entry(2, Priority.TEXT))
    admission = queue.admit(an_entry(3))
    assert {entry.seq for entry in admission.dropped} == {2}
    assert [entry.seq for entry in queue.clear()] == [3]


async def test_a_postponed_job_returns_to_its_place(clock: FakeClock) -> None:
    queue = JobQueue(10, clock)
    queue.admit(an_entry(1))
    queue.admit(an_entry(2))
    first = await queue.next()
    assert queue.admit(an_entry(3, Priority.IMPORTANT)).interrupt == "postpone"
    queue.postpone(first)
    queue.done()
    assert [(await queue.next()).seq for _ in range(3)] == [3, 1, 2]


async def test_cancel_takes_by_id(clock: FakeClock) -> None:
    queue = JobQueue(10, clock)
    queue.admit(an_entry(1))
    queue.admit(an_entry(2))
    assert [entry.seq for entry in queue.cancel("job-1")] == [1]
    assert queue.cancel("job-1") == []
    assert len(queue) == 1
