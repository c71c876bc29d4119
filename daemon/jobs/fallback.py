"""The journal on disk, and one in memory for as long as the disk is full or broken.

An announcement that cannot be written down is still spoken. What is lost in that time is only the promise
to go on with it after a power cut. As soon as the disk takes it, what is in memory moves there.
"""

import errno
import logging
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from daemon.clock import Moment
from daemon.jobs.job import Job
from daemon.jobs.journal import Entry, Journal, JournalError, Repeated
from daemon.mqtt.messages import Result

log = logging.getLogger(__name__)

FIRST_SEQ_IN_MEMORY = 10**12  # far above what the file will ever count to: a number names its journal

Asked = tuple[Job, bool]  # with whether the broker marked its delivery as a repetition


class Owed(NamedTuple):
    """What the file could not take yet."""

    ends: list[tuple[int, Result]]
    published: list[int]


class FallbackJournal:
    """What a `Journal` does, whatever the disk does; calls block and belong on one thread.

    Closed and opened again, it still has what it could not write: so it may outlive a reload.
    """

    def __init__(self, path: Path) -> None:
        self._file = Journal(path)
        self._memory = Journal(None, FIRST_SEQ_IN_MEMORY)
        self._owed = Owed([], [])
        self._moved: dict[int, int] = {}  # number in memory -> number in the file
        self._kept: list[tuple[Job, Result | None]] = []  # what was in memory when it was closed
        self.problem: str | None = None  # why the file cannot be written; None while it can

    def open(self) -> None:
        """Opens the file, or notes why that must wait.

        Raises:
            JournalError: the file cannot be opened, and room on the disk would not change that.
        """
        try:
            self._file.open()
        except JournalError as error:
            if not _may_get_well(error):
                raise
            self._note(error)
        self._memory.open()
        self._take_back()

    def close(self, now: Moment) -> None:
        """Closes the file, after one more try to write what it has not taken."""
        self.settle(now)
        if self.problem is not None:
            log.error("not all could be written: what waits may be lost, and what was said last said again")
        self._kept = [(job, result) for _, job, result in self._held()]
        self._memory.close()
        self._file.close()

    def accept(self, jobs: Sequence[Asked]) -> list[Entry | Repeated]:
        """As `Journal.accept`; in memory where the file cannot be written."""
        return _unless_known(jobs, self._memory.repetition, self._accept_new)

    def withdraw(self, seqs: Sequence[int]) -> None:
        """Raises `JournalError`: what was refused may be spoken after a restart."""
        for journal, own in self._by_journal(seqs):
            journal.withdraw(own)

    def begin(self, seq: int) -> None:
        """Counts an attempt; one that cannot be counted is none."""
        journal, own = self._place(seq)
        try:
            journal.begin(own)
        except JournalError as error:
            self._note(error)

    def finish(self, results: Sequence[tuple[int, Result]], now: Moment) -> None:
        """Writes final results, at the latest when the file can be written again."""
        for seq, result in results:
            journal, own = self._place(seq)
            if journal is self._memory:
                journal.finish([(own, result)], now)
            else:
                self._owed.ends.append((own, result))
        if self._file.is_open:  # else `settle` opens it, and gives what it holds to whoever waits for that
            self._pay(now)

    def published(self, seqs: Sequence[int]) -> None:
        """Notes what the broker has, at the latest when the file can be written again."""
        for journal, own in self._by_journal(seqs):
            try:
                journal.published(own)
            except JournalError as error:
                self._note(error)
                self._owed.published.extend(own)
        for seq in seqs:
            self._moved.pop(seq, None)

    def settle(self, now: Moment) -> list[Entry]:
        """Tries once more to write what the file has not taken yet.

        Returns:
            The open jobs of a file that could not be opened until now.
        """
        if self.problem is None:
            return []
        late = not self._file.is_open
        try:
            if late:
                self._file.open()
            self._file.check_writable()
            found = self._late_jobs() if late else []
            self._move(now)
        except JournalError as error:
            self._note(error)
            return []
        self._note(None)
        self._pay(now)
        return found

    def open_jobs(self) -> list[Entry]:
        return [entry for journal in self._readable for entry in journal.open_jobs()]

    def untold(self) -> list[tuple[int, Job, Result]]:
        return [record for journal in self._readable for record in journal.untold()]

    def last_finished(self) -> Job | None:
        found = [job for journal in self._readable if (job := journal.last_finished()) is not None]
        return max(found, key=lambda job: job.accepted_at.wall_s, default=None)

    def recent(self, limit: int) -> list[Result]:
        found = [result for journal in self._readable for result in journal.recent(limit)]
        return sorted(found, key=lambda result: result.at, reverse=True)[:limit]

    def forget_old(self, now: Moment) -> int:
        """Raises `JournalError`: old records of the file stay for now."""
        return sum(journal.forget_old(now) for journal in reversed(self._readable))

    def _take_back(self) -> None:
        """Puts what was in memory there again, under new numbers."""
        for job, result in self._kept:
            _put(self._memory, job, result, job.accepted_at)
        self._kept = []
        self._moved = {}

    def _accept_new(self, jobs: Sequence[Asked]) -> list[Entry | Repeated]:
        if not jobs:
            return []
        try:
            outcomes = self._file.accept(jobs)
        except JournalError as error:
            self._note(error)
            return _unless_known(jobs, self._known_to_file, self._memory.accept)
        if any(isinstance(outcome, Entry) for outcome in outcomes):
            self._note(None)
        return outcomes

    def _known_to_file(self, job: Job, repeated_by_broker: bool) -> Repeated | None:
        try:
            return self._file.repetition(job, repeated_by_broker)
        except JournalError:  # noted already, by the writing that failed before
            return None

    def _pay(self, now: Moment) -> None:
        """Writes what is owed to the file."""
        if self._owed == ([], []):
            return
        try:
            if self._owed.ends:
                self._file.finish(self._owed.ends, now)
            if self._owed.published:
                self._file.published(self._owed.published)
        except JournalError as error:
            self._note(error)
        else:
            self._owed = Owed([], [])
            self._note(None)

    def _late_jobs(self) -> list[Entry]:
        """The open jobs of the file, less what came again meanwhile: it is in memory, and said once."""
        found = self._file.open_jobs()
        known = [entry.seq for entry in found if self._memory.repetition(entry.job, False)]
        if known:
            self._file.withdraw(known)
        return [entry for entry in found if entry.seq not in known]

    def _held(self) -> list[tuple[int, Job, Result | None]]:
        """What memory holds that is still to be spoken or to be told, in the order of acceptance."""
        waiting = [(entry.seq, entry.job, None) for entry in self._memory.open_jobs()]
        return sorted([*waiting, *self._memory.untold()], key=lambda held: held[0])

    def _move(self, now: Moment) -> None:
        """Moves from memory to the file what is still to be spoken or to be told."""
        for seq, job, result in self._held():
            moved = _put(self._file, job, result, now)
            if moved is not None:
                self._moved[seq] = moved
                self._memory.withdraw([seq])

    @property
    def _readable(self) -> tuple[Journal, ...]:
        return (self._file, self._memory) if self._file.is_open else (self._memory,)

    def _place(self, seq: int) -> tuple[Journal, int]:
        """Which journal has a job, and its number there."""
        if seq in self._moved:
            return self._file, self._moved[seq]
        return (self._memory if seq >= FIRST_SEQ_IN_MEMORY else self._file), seq

    def _by_journal(self, seqs: Sequence[int]) -> list[tuple[Journal, list[int]]]:
        places = [self._place(seq) for seq in seqs]
        split = [
            (journal, [own for at, own in places if at is journal]) for journal in (self._file, self._memory)
        ]
        return [(journal, own) for journal, own in split if own]

    def _note(self, error: JournalError | None) -> None:
        """Tells once that the file cannot be written, and once that it can again."""
        if error is not None and self.problem is None:
            log.error("%s; announcements are spoken, but a power cut would lose those that wait", error)
        if error is None and self.problem is not None:
            log.info("the journal can be written again")
        self.problem = str(error) if error is not None else None
        if error is not None and error.is_damage:
            self._file.close()  # opened again, a damaged file is put aside


def _put(journal: Journal, job: Job, result: Result | None, now: Moment) -> int | None:
    """Writes a job with its end, if it has one; its number there, or None where it is known already."""
    (outcome,) = journal.accept([(job, False)])
    if not isinstance(outcome, Entry):
        return None
    if result is not None:
        journal.finish([(outcome.seq, result)], now)
    return outcome.seq


def _may_get_well(error: JournalError) -> bool:
    """Whether room on the disk may cure it; SQLite calls a full one an I/O error where it maps its index."""
    cause = error.__cause__
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF  # the primary code: sqlite.org/rescode.html
    full = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY)
    no_room = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
    return code in full or (isinstance(cause, OSError) and cause.errno in no_room)


def _unless_known(
    jobs: Sequence[Asked],
    repetition: Callable[[Job, bool], Repeated | None],
    accept: Callable[[Sequence[Asked]], list[Entry | Repeated]],
) -> list[Entry | Repeated]:
    """Has only those accepted that repeat nothing; the outcomes in the order of the jobs."""
    known = [repetition(job, by_broker) for job, by_broker in jobs]
    new = iter(accept([asked for asked, repeated in zip(jobs, known, strict=True) if repeated is None]))
    return [repeated or next(new) for repeated in known]
