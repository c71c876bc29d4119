"""Takes deliveries in: judged, journalled, queued, and only then acknowledged."""

import asyncio
import logging
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from daemon.clock import Clock
from daemon.errors import AnnouncementError, Code
from daemon.hermes.messages import Asker
from daemon.jobs import given
from daemon.jobs.job import Job
from daemon.jobs.journal import Entry, JournalError, Repeated
from daemon.jobs.ledger import Ledger
from daemon.jobs.policy import Interrupt
from daemon.jobs.queue import JobQueue
from daemon.mqtt.intake import Defaults, Envelope, Refused, make_id, parse_say
from daemon.mqtt.link import Link
from daemon.mqtt.messages import Event
from daemon.mqtt.results import Results
from daemon.mqtt.traffic import Delivery
from daemon.storage.phrases import PhraseCache

log = logging.getLogger(__name__)

BATCH = 200  # deliveries in one journal transaction: one disk synchronisation for all of them
INBOX = 5000
MAX_SOUND_BYTES = 16 * 2**20  # of sounds in the inbox


class Say(NamedTuple):
    """A delivery to one of the `say` topics."""

    delivery: Delivery
    topic_style: str | None
    asker: Asker | None = None


class Play(NamedTuple):
    """A delivery whose payload is a sound."""

    delivery: Delivery
    asker: Asker


Request = Say | Play


class Reception:
    """The way from the broker's deliveries to the queue."""

    def __init__(
        self,
        link: Link,
        ledger: Ledger,
        queue: JobQueue,
        results: Results,
        defaults: Callable[[], Defaults],
        interrupt: Callable[[Entry | None, Interrupt], None],
        changed: Callable[[], None],
        cache: PhraseCache,
        clock: Clock,
    ) -> None:
        """`cache` keeps the sounds that are to be played."""
        self._link = link
        self._ledger = ledger
        self._queue = queue
        self._results = results
        self._defaults = defaults
        self._interrupt = interrupt
        self._changed = changed
        self._cache = cache
        self._clock = clock
        self._inbox: asyncio.Queue[Request | asyncio.Future[None]] = asyncio.Queue(INBOX)
        self._sound_bytes = 0

    def deliver(self, request: Request) -> None:
        """Takes one delivery; called from the event loop, never blocks."""
        if (size := _sound_bytes(request)) and self._sound_bytes + size > MAX_SOUND_BYTES:
            error = AnnouncementError(Code.QUEUE_FULL, "sounds come faster than they can be kept")
            self._results.rejected(error, make_id(), None, None, request.asker)
            self._link.acknowledge(request.delivery)
            return
        try:
            self._inbox.put_nowait(request)
            self._sound_bytes += size
        except asyncio.QueueFull:
            log.warning("messages come faster than they can be journalled; one is left to the broker")

    def mark(self) -> "asyncio.Future[None]":
        """Done when all that was delivered before this call is queued, and nothing that comes after it."""
        mark: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        try:
            self._inbox.put_nowait(mark)
        except asyncio.QueueFull:  # a command must not wait for a flood to pass
            mark.set_result(None)
        return mark

    async def run(self) -> None:
        """Works the inbox off, many at a time. Runs until cancelled."""
        while True:
            batch: list[Request] = []
            item = await self._inbox.get()
            while not isinstance(item, asyncio.Future):
                batch.append(item)
                if len(batch) == BATCH or self._inbox.empty():
                    break
                item = self._inbox.get_nowait()
            try:
                await self.take(batch)
            finally:
                self._sound_bytes -= sum(map(_sound_bytes, batch))
                if isinstance(item, asyncio.Future) and not item.done():
                    item.set_result(None)
            await self._results.settle()

    async def admit(self, job: Job) -> None:
        """Takes in a job of the daemon's own making (`replay`). Raises `AnnouncementError`."""
        await self._enter([(job, False)])

    async def take(self, batch: list[Request]) -> None:
        defaults = self._defaults()
        jobs: list[tuple[Job, bool]] = []
        for request in batch:
            delivery, asker = request.delivery, request.asker
            try:
                jobs.append((await self._read(request, defaults), delivery.dup))
            except Refused as error:
                self._results.rejected(
                    error, error.request_id, error.reply_to, delivery.correlation_data, asker
                )
            except Exception as error:  # the one catch-all of this task: a fault of ours costs one message
                log.exception("a message on %s cannot be judged", delivery.topic)
                fault = AnnouncementError(Code.ENGINE_FAILED, f"an internal fault: {type(error).__name__}")
                self._results.rejected(fault, make_id(), None, None, asker)
        await self._enter(jobs)
        for request in batch:
            self._link.acknowledge(request.delivery)

    async def _read(self, request: Request, defaults: Defaults) -> Job:
        """The job that a delivery asks for. Raises `Refused`."""
        delivery, now = request.delivery, self._clock()
        envelope = Envelope(
            topic=delivery.topic,
            topic_style=request.topic_style if isinstance(request, Say) else None,
            message_expiry_s=delivery.message_expiry_s,
            response_topic=delivery.response_topic,
            correlation_data=delivery.correlation_data,
            mid=delivery.mid,
        )
        if isinstance(request, Play):
            payload, asker = delivery.payload, request.asker
            return await asyncio.to_thread(given.job, payload, asker, envelope, self._cache, defaults, now)
        job = parse_say(delivery.payload, envelope, defaults, now)
        return job if request.asker is None else msgspec.structs.replace(job, asker=request.asker)

    async def _enter(self, jobs: list[tuple[Job, bool]]) -> None:
        if not jobs:
            return
        try:
            outcomes = await self._ledger.accept(jobs)
        except JournalError as error:
            log.error("%s", error)  # noqa: TRY400 (its sentence tells all)
            for job, _ in jobs:
                self._reject(job, AnnouncementError(Code.DISK_FULL, "the request cannot be written to disk"))
            return
        crowded: list[int] = []
        for outcome in outcomes:
            if isinstance(outcome, Repeated):
                self._repeated(outcome)
            else:
                try:
                    self._queue.check_room(outcome.job.priority)
                except AnnouncementError as error:
                    crowded.append(outcome.seq)
                    self._reject(outcome.job, error)
                else:
                    await self._queued(outcome)
        if crowded:
            try:
                await self._ledger.withdraw(crowded)
            except JournalError as error:
                log.error("%s; what was refused may be spoken after a restart", error)  # noqa: TRY400 (its sentence tells all)

    async def _queued(self, entry: Entry) -> None:
        log.info("[%s] accepted: %s, %d characters", entry.job.id, entry.job.priority, len(entry.job.text))
        self._results.accepted(entry.job)
        speaking = self._queue.current
        admission = self._queue.admit(entry)
        self._changed()
        if admission.interrupt:
            self._interrupt(speaking, admission.interrupt)
        await self._results.end(admission.dropped, Event.CANCELLED, lambda dropped: _why(dropped, entry))

    def _repeated(self, repeated: Repeated) -> None:
        if repeated.by_broker:
            log.info("[%s] the broker delivered it again; it is not spoken twice", repeated.job.id)
            return
        self._reject(
            repeated.job,
            AnnouncementError(Code.DUPLICATE, f"the id '{repeated.job.id}' was used within the last hour"),
        )

    def _reject(self, job: Job, error: AnnouncementError) -> None:
        self._results.rejected(error, job.id, job.reply_to, job.correlation_data, job.asker)


def _sound_bytes(request: Request) -> int:
    return len(request.delivery.payload) if isinstance(request, Play) else 0


def _why(dropped: Entry, new: Entry) -> str:
    if dropped.seq == new.seq:
        return f"a {new.job.priority} is not spoken while something else is"
    return f"replaced by a newer {new.job.priority}"
