"""Tells what became of each request: to `<n>/result`, and to whoever asked for a reply.

A final result is in the journal before it is published, and is published again after a restart or
an outage until the broker has taken it.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence

import msgspec

from daemon.clock import Clock
from daemon.errors import AnnouncementError
from daemon.hermes.messages import Asker, answers
from daemon.jobs.job import Job
from daemon.jobs.journal import Entry, JournalError
from daemon.jobs.ledger import Ledger
from daemon.mqtt.link import Link
from daemon.mqtt.messages import Event, Result, timestamp
from daemon.mqtt.settings import LinkError
from daemon.mqtt.topics import Topics
from daemon.watch.metrics import Metrics

log = logging.getLogger(__name__)

CONFIRM_INTERVAL_S = 0.2
SETTLE_DEADLINE_S = 2.0


class Results:
    """The only place that publishes results."""

    def __init__(
        self,
        link: Link,
        topics: Topics,
        ledger: Ledger,
        clock: Clock,
        metrics: Metrics | None = None,
        witness: Callable[[Result], None] = lambda result: None,
    ) -> None:
        """`witness` sees every result as it is told, whether the broker is there or not."""
        self._link = link
        self._topics = topics
        self._ledger = ledger
        self._clock = clock
        self._metrics = metrics or Metrics()
        self._witness = witness
        self._in_flight: set[int] = set()  # told, and not yet in the journal as published
        self._confirmed: list[int] = []
        self._newest: asyncio.Future[None] | None = None
        self._crowded_out = False  # a final result found no room in the link's queue
        self.last: Result | None = None

    async def run(self) -> None:
        """Notes in the journal which final results the broker has taken. Runs until cancelled."""
        while True:
            await asyncio.sleep(CONFIRM_INTERVAL_S)
            await self.confirm()
            if self._crowded_out and self._link.status.waiting == 0:
                self._crowded_out = False
                await self.tell_again()

    async def settle(self) -> None:
        """Waits, within bounds, until the broker has taken what was told so far: intake is held back so."""
        if self._newest is not None and not self._newest.done():
            await asyncio.wait({self._newest}, timeout=SETTLE_DEADLINE_S)

    async def confirm(self) -> None:
        """Writes the confirmations received so far."""
        if not self._confirmed:
            return
        seqs, self._confirmed = self._confirmed, []
        try:
            await self._ledger.published(seqs)
        except JournalError as error:  # they stay in flight: this run does not tell them again
            log.warning("%s; results may be told again after a restart", error)
        else:
            self._in_flight.difference_update(seqs)

    async def tell_again(self) -> None:
        """Publishes the final results that the broker has not taken yet."""
        for seq, job, result in await self._ledger.untold():
            if seq not in self._in_flight:
                self._publish_final(seq, job, result)

    def accepted(self, job: Job) -> None:
        self._tell(job, self.describe(job, Event.ACCEPTED))

    def started(self, job: Job, result: Result) -> None:
        self._metrics.started(job.id, self._clock().seconds_since(job.accepted_at))
        self._tell(job, result)

    def rejected(
        self,
        error: AnnouncementError,
        request_id: str,
        reply_to: str | None,
        correlation_data: bytes | None,
        asker: Asker | None = None,
    ) -> None:
        """Tells the end of a request that never became a job."""
        log.info("[%s] rejected: %s: %s", request_id, error.code, error.message)
        result = Result(
            id=request_id,
            event=Event.REJECTED,
            code=error.code,
            message=error.message,
            at=timestamp(self._clock().wall_s),
        )
        self._metrics.ended(result)
        self._publish(reply_to, correlation_data, asker, result)

    async def final(self, ended: Sequence[tuple[Entry, Result]]) -> None:
        """Journals and publishes how jobs ended."""
        if not ended:
            return
        try:
            await self._ledger.finish([(entry.seq, result) for entry, result in ended])
        except JournalError as error:
            log.error("%s; these jobs may be spoken again after a restart", error)  # noqa: TRY400 (its sentence tells all)
        for entry, result in ended:
            self.last = result
            self._metrics.ended(result, aloud=_is_heard(entry.job, result))
            _log_end(result)
            self._publish_final(entry.seq, entry.job, result)

    async def end(
        self, entries: Sequence[Entry], event: Event, why: Callable[[Entry], str | AnnouncementError]
    ) -> None:
        """Ends jobs that were not spoken, each with the reason that `why` gives."""
        await self.final([(entry, self._unspoken(entry.job, event, why(entry))) for entry in entries])

    def describe(
        self, job: Job, event: Event, error: AnnouncementError | None = None, message: str | None = None
    ) -> Result:
        """A result that repeats what was asked; the pipeline adds what it made."""
        return Result(
            id=job.id,
            event=event,
            code=error.code if error else None,
            message=error.message if error else message,
            text=job.text,
            voice=job.voice,
            style=job.style,
            at=timestamp(self._clock().wall_s),
        )

    def _unspoken(self, job: Job, event: Event, why: str | AnnouncementError) -> Result:
        if isinstance(why, AnnouncementError):
            return self.describe(job, event, why)
        return self.describe(job, event, message=why)

    def _publish_final(self, seq: int, job: Job, result: Result) -> None:
        future = self._tell(job, result)
        if future is None:
            self._crowded_out = True
            return
        self._in_flight.add(seq)

        def confirm(done: "asyncio.Future[None]") -> None:
            if not done.cancelled() and done.exception() is None:
                self._confirmed.append(seq)
            else:
                self._in_flight.discard(seq)

        future.add_done_callback(confirm)

    def _tell(self, job: Job, result: Result) -> "asyncio.Future[None] | None":
        return self._publish(job.reply_to, job.correlation_data, job.asker, result)

    def _publish(
        self, reply_to: str | None, correlation_data: bytes | None, asker: Asker | None, result: Result
    ) -> "asyncio.Future[None] | None":
        """Publishes to the result topic and to who wants a reply; None when there is no room for it."""
        self._witness(result)
        payload = msgspec.json.encode(result)
        if reply_to is not None:
            try:
                self._link.publish(reply_to, payload, correlation_data=correlation_data)
            except LinkError as error:  # too large with its correlation data, for example
                log.warning("[%s] no reply to %s: %s", result.id, reply_to, error)
        for answer in answers(asker, result) if asker is not None else ():
            try:
                self._link.publish(answer.topic, answer.payload)
            except LinkError as error:
                log.warning("[%s] no answer to %s: %s", result.id, answer.topic, error)
        try:
            self._newest = self._link.publish(self._topics.result, payload)
        except LinkError as error:
            log.debug("[%s] the result '%s' cannot be published now: %s", result.id, result.event, error)
            return None
        return self._newest


def _is_heard(job: Job, result: Result) -> bool:
    """Whether the loudspeaker gave all of it; a file alone, or one made in quiet hours, is not heard."""
    return result.event == Event.FINISHED and job.output != "file" and "speaker" not in result.degraded


def _log_end(result: Result) -> None:
    details = [f"{result.duration_s:.2f} s" if result.duration_s is not None else "", result.voice or ""]
    details += ["cached"] if result.cached else [f"RTF {result.rtf:.2f}"] if result.rtf is not None else []
    details += [f"without {', '.join(result.degraded)}"] if result.degraded else []
    details += [f"{result.code}: {result.message}"] if result.code else [result.message or ""]
    level = logging.WARNING if result.event == Event.FAILED else logging.INFO
    log.log(level, "[%s] %s: %s", result.id, result.event, "; ".join(detail for detail in details if detail))
