"""The journal on disk, and one in memory for as long as the disk is full or broken.

An announcement that cannot be written down is still spoken. What is lost in that time is only the promise
to go on with it after a power cut.
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

    @property
    def anything(self) -> bool:
        return bool(self.ends or self.published)


class FallbackJournal:
    """What a `Journal` does, whatever the disk does; calls block and belong on one thread."""

    def __init__(self, path: Path) -> None:
        self._file = Journal(path)
        self._memory = Journal(None, FIRST_SEQ_IN_MEMORY)
        self._owed = Owed([], [])
        self.problem: str | None = None  # why the file cannot be written; None while it can

    def open(self) -> None:
        """Opens the file, at the latest when the disk has room for its index.

        Raises:
            JournalError: the file cannot be opened, for another reason than a full disk.
        """
        self._memory.open()
        try:
            self._file.open()
        except JournalError as error:
            if not _is_full(error):
                raise
            self._note(error)

    def close(self) -> None:
        if self._owed.ends:
            log.error("the ends of %d announcements are not on disk", len(self._owed.ends))
        self._file.close()
        self._memory.close()

    def accept(self, jobs: Sequence[Asked]) -> list[Entry | Repeated]:
        """As `Journal.accept`; in memory where the file cannot be written."""
        return _unless_known(jobs, self._memory.repetition, self._accept_new)

    def withdraw(self, seqs: Sequence[int]) -> None:
        """Raises `JournalError`: what was refused may be spoken after a restart."""
        for journal, own in self._by_journal(seqs):
            journal.withdraw(own)

    def begin(self, seq: int) -> None:
        """Counts an attempt; one that cannot be counted is none."""
        try:
            self._of(seq).begin(seq)
        except JournalError as error:
            self._note(error)

    def finish(self, results: Sequence[tuple[int, Result]], now: Moment) -> None:
        """Writes final results, at the latest when the file can be written again."""
        in_memory = [pair for pair in results if self._of(pair[0]) is self._memory]
        if in_memory:
            self._memory.finish(in_memory, now)
        self._owed.ends.extend(pair for pair in results if self._of(pair[0]) is self._file)
        self.settle(now)

    def published(self, seqs: Sequence[int]) -> None:
        """Notes what the broker has, at the latest when the file can be written again."""
        for journal, own in self._by_journal(seqs):
            try:
                journal.published(own)
            except JournalError as error:
                self._note(error)
                self._owed.published.extend(own)

    def settle(self, now: Moment) -> list[Entry]:
        """Tries once more to write what the file has not taken yet.

        Returns:
            The open jobs of a file that could not be opened until now.
        """
        late = not self._file.is_open
        if not self._owed.anything and not late:
            return []
        try:
            if late:
                self._file.open()
            self._file.finish(self._owed.ends, now)
            if self._owed.published:
                self._file.published(self._owed.published)
        except JournalError as error:
            self._note(error)
            return []
        self._owed = Owed([], [])
        self._note(None)
        return self._file.open_jobs() if late else []

    def open_jobs(self) -> list[Entry]:
        return [entry for journal in self._readable for entry in journal.open_jobs()]

    def untold(self) -> list[tuple[int, Job, Result]]:
        return [record for journal in self._readable for record in journal.untold()]

    def last_finished(self) -> Job | None:
        found = [job for journal in self._readable if (job := journal.last_finished()) is not None]
        return max(found, key=lambda job: job.accepted_at.wall_s, default=None)

    def forget_old(self, now: Moment) -> int:
        """Raises `JournalError`: old records stay for now."""
        return sum(journal.forget_old(now) for journal in self._readable)

    def _accept_new(self, jobs: Sequence[Asked]) -> list[Entry | Repeated]:
        if not jobs:
            return []
        try:
            outcomes = self._file.accept(jobs)
        except JournalError as error:
            self._note(error)
            known_to_file = self._file.repetition if self._file.is_open else _never
            return _unless_known(jobs, known_to_file, self._memory.accept)
        self._note(None)
        return outcomes

    @property
    def _readable(self) -> tuple[Journal, ...]:
        return (self._file, self._memory) if self._file.is_open else (self._memory,)

    def _of(self, seq: int) -> Journal:
        return self._memory if seq >= FIRST_SEQ_IN_MEMORY else self._file

    def _by_journal(self, seqs: Sequence[int]) -> list[tuple[Journal, list[int]]]:
        split = [
            (journal, [seq for seq in seqs if self._of(seq) is journal])
            for journal in (self._memory, self._file)
        ]
        return [(journal, own) for journal, own in split if own]

    def _note(self, error: JournalError | None) -> None:
        """Tells once that the file cannot be written, and once that it can again."""
        if error is not None and self.problem is None:
            log.error("%s; announcements are spoken, but a power cut would lose those that wait", error)
        if error is None and self.problem is not None:
            log.info("the journal can be written again")
        self.problem = str(error) if error is not None else None


def _is_full(error: JournalError) -> bool:
    """Whether room on the disk would cure it: where SQLite maps its index, it calls that an I/O error."""
    code = getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF  # the primary code: sqlite.org/rescode.html
    return code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR) or (
        isinstance(error.__cause__, OSError) and error.__cause__.errno == errno.ENOSPC
    )


def _never(_job: Job, _repeated_by_broker: bool) -> None:
    """Nothing is known."""


def _unless_known(
    jobs: Sequence[Asked],
    repetition: Callable[[Job, bool], Repeated | None],
    accept: Callable[[Sequence[Asked]], list[Entry | Repeated]],
) -> list[Entry | Repeated]:
    """Has only those accepted that repeat nothing; the outcomes in the order of the jobs."""
    known = [repetition(job, by_broker) for job, by_broker in jobs]
    new = iter(accept([asked for asked, repeated in zip(jobs, known, strict=True) if repeated is None]))
    return [repeated or next(new) for repeated in known]
