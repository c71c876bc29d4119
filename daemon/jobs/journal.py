"""What was accepted and how it ended, on disk before anybody is told.

SQLite in WAL mode with full synchronisation: a committed record survives a power cut. All calls
block and belong on one thread; `daemon.jobs.ledger` is the event loop's way in.
"""

import contextlib
import logging
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from daemon.clock import Moment
from daemon.errors import CosyvoicedError
from daemon.jobs.job import Job
from daemon.mqtt.messages import Result

log = logging.getLogger(__name__)

T = TypeVar("T")

DUPLICATE_WINDOW_S = 3600.0  # the contract: an id within an hour is a duplicate
KEEP_FINISHED_S = 24 * 3600.0  # long enough for `replay` and for a broker that was away
KEEP_UNPUBLISHED_S = 7 * 24 * 3600.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,  -- order of acceptance
    id TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    job BLOB NOT NULL,                      -- msgpack of Job
    accepted_wall_s REAL NOT NULL,          -- for people; the job has the whole moment
    attempts INTEGER NOT NULL DEFAULT 0,    -- times it was begun
    result BLOB,                            -- msgpack of the final Result; NULL while open
    finished_wall_s REAL,
    published INTEGER NOT NULL DEFAULT 0    -- the broker has the final result
);
CREATE INDEX IF NOT EXISTS jobs_by_id ON jobs (id);
CREATE INDEX IF NOT EXISTS jobs_by_fingerprint ON jobs (fingerprint);
CREATE INDEX IF NOT EXISTS jobs_open ON jobs (seq) WHERE result IS NULL;
CREATE INDEX IF NOT EXISTS jobs_untold ON jobs (seq) WHERE published = 0;
"""


class JournalError(CosyvoicedError):
    """The journal cannot be read or written: the disk is full or broken."""

    @property
    def is_damage(self) -> bool:
        """Whether the file is no database, or none any more; opened anew, it is put aside."""
        cause = self.__cause__
        return isinstance(cause, sqlite3.DatabaseError) and not isinstance(cause, sqlite3.OperationalError)


class Entry(NamedTuple):
    """A job with its place in the order of acceptance."""

    seq: int
    job: Job
    attempts: int = 0  # times an earlier run of the daemon, or this one, began it
    postponed: bool = False  # begun and cut by something important; it does not grow stale any more


class Repeated(NamedTuple):
    """A delivery that is not a new job: the sender or the broker sent it again."""

    job: Job
    by_broker: bool


class Journal:
    """The table of jobs."""

    def __init__(self, path: Path | None, first_seq: int = 1) -> None:
        """`path`: None keeps it in memory. `first_seq`: where a new journal begins to count."""
        self._path = path
        self._first_seq = first_seq
        self._db: sqlite3.Connection | None = None

    @property
    def is_open(self) -> bool:
        return self._db is not None

    def open(self) -> None:
        """Opens or makes the file; a damaged one is put aside. Raises `JournalError`."""
        try:
            if self._path is None:
                self._connect(":memory:")
            else:
                self._open_file(self._path)
        except (sqlite3.Error, OSError) as error:
            raise JournalError(f"the journal {self._path} cannot be opened: {error}") from error

    def close(self) -> None:
        if self._db is not None:
            with contextlib.suppress(sqlite3.Error):  # a full disk: the WAL is read at the next start
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._db.close()
            self._db = None

    def accept(self, jobs: Sequence[tuple[Job, bool]]) -> list[Entry | Repeated]:
        """Writes new jobs in one transaction and tells which are repetitions.

        Args:
            jobs: each with whether the broker marked its delivery as a repetition.

        Raises:
            JournalError: nothing was written.
        """
        outcomes: list[Entry | Repeated] = []
        with self._transaction() as db:
            for job, repeated_by_broker in jobs:
                if (repeated := self.repetition(job, repeated_by_broker)) is not None:
                    outcomes.append(repeated)
                else:
                    cursor = db.execute(
                        "INSERT INTO jobs (id, fingerprint, job, accepted_wall_s) VALUES (?, ?, ?, ?)",
                        (job.id, job.fingerprint, msgspec.msgpack.encode(job), job.accepted_at.wall_s),
                    )
                    seq = cursor.lastrowid or 0
                    outcomes.append(Entry(seq, job))
                    self._first_seq = max(self._first_seq, seq + 1)  # one put aside is followed, not repeated
        return outcomes

    def repetition(self, job: Job, repeated_by_broker: bool) -> Repeated | None:
        """What a job repeats of the last hour; None where it is new. Reads only."""
        if repeated_by_broker and self._was_accepted("fingerprint", job.fingerprint, job.accepted_at):
            return Repeated(job, by_broker=True)
        if self._was_accepted("id", job.id, job.accepted_at):
            return Repeated(job, by_broker=False)
        return None

    def check_writable(self) -> None:
        """Raises `JournalError` where a write fails."""
        with self._transaction() as db:
            db.execute("UPDATE sqlite_sequence SET seq = seq WHERE name = 'jobs'")

    def withdraw(self, seqs: Sequence[int]) -> None:
        """Deletes jobs that turned out to have no room; their ids may be used again."""
        with self._transaction() as db:
            db.executemany("DELETE FROM jobs WHERE seq = ?", [(seq,) for seq in seqs])

    def begin(self, seq: int) -> None:
        """Counts an attempt before it is made, so that a job that kills the daemon is known by it."""
        with self._transaction() as db:
            db.execute("UPDATE jobs SET attempts = attempts + 1 WHERE seq = ?", (seq,))

    def finish(self, results: Sequence[tuple[int, Result]], now: Moment) -> None:
        """Writes final results; a job that has one already keeps it."""
        with self._transaction() as db:
            db.executemany(
                "UPDATE jobs SET result = ?, finished_wall_s = ? WHERE seq = ? AND result IS NULL",
                [(msgspec.msgpack.encode(result), now.wall_s, seq) for seq, result in results],
            )

    def published(self, seqs: Sequence[int]) -> None:
        """Notes that the broker has these jobs' final results."""
        with self._transaction() as db:
            db.executemany("UPDATE jobs SET published = 1 WHERE seq = ?", [(seq,) for seq in seqs])

    def open_jobs(self) -> list[Entry]:
        """Accepted and not ended, in order of acceptance."""
        rows = self._read("SELECT seq, job, attempts FROM jobs WHERE result IS NULL ORDER BY seq")
        return [
            Entry(seq, job, attempts)
            for seq, blob, attempts in rows
            if (job := _decoded(seq, blob, Job)) is not None
        ]

    def untold(self) -> list[tuple[int, Job, Result]]:
        """Ended jobs whose final result the broker has not taken yet."""
        rows = self._read(
            "SELECT seq, job, result FROM jobs WHERE published = 0 AND result IS NOT NULL ORDER BY seq"
        )
        return [
            (seq, job, result)
            for seq, blob, result_blob in rows
            if (job := _decoded(seq, blob, Job)) is not None
            and (result := _decoded(seq, result_blob, Result)) is not None
        ]

    def last_finished(self) -> Job | None:
        """The job that ended `finished` last: what `replay` says again."""
        rows = self._read(
            "SELECT seq, job, result FROM jobs WHERE result IS NOT NULL"
            " ORDER BY finished_wall_s DESC, seq DESC LIMIT 200"
        )
        for seq, blob, result_blob in rows:
            result = _decoded(seq, result_blob, Result)
            if result is not None and result.event == "finished":
                return _decoded(seq, blob, Job)
        return None

    def recent(self, limit: int) -> list[Result]:
        """How the last jobs ended, the newest first."""
        rows = self._read(
            "SELECT seq, result FROM jobs WHERE result IS NOT NULL"
            f" ORDER BY finished_wall_s DESC, seq DESC LIMIT {limit:d}"
        )
        results = (_decoded(seq, blob, Result) for seq, blob in rows)
        return [result for result in results if result is not None]

    def forget_old(self, now: Moment) -> int:
        """Deletes what no promise needs any more; the number of rows deleted."""
        with self._transaction() as db:
            cursor = db.execute(
                "DELETE FROM jobs WHERE result IS NOT NULL"
                " AND finished_wall_s < CASE published WHEN 1 THEN ? ELSE ? END",
                (now.wall_s - KEEP_FINISHED_S, now.wall_s - KEEP_UNPUBLISHED_S),
            )
            return cursor.rowcount

    def _open_file(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o750)
        path.touch(mode=0o640)  # SQLite gives the files beside it the same mode
        try:
            self._connect(str(path))
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            aside = path.with_suffix(f".broken-{int(time.time())}")
            log.error("the journal is damaged (%s); it is kept as %s and a new one begun", error, aside)  # noqa: TRY400 (its sentence tells all)
            path.rename(aside)
            for suffix in ("-wal", "-shm"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
            path.touch(mode=0o640)
            self._connect(str(path))

    def _connect(self, database: str) -> None:
        db = sqlite3.connect(database, check_same_thread=False, isolation_level=None, timeout=10)
        try:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=FULL")
            db.execute("PRAGMA cache_size=-256")  # KiB; what is looked up is recent
            db.executescript(_SCHEMA)
            db.execute(
                "INSERT INTO sqlite_sequence (name, seq) SELECT 'jobs', ? WHERE NOT EXISTS"
                " (SELECT 1 FROM sqlite_sequence WHERE name = 'jobs')",
                (self._first_seq - 1,),
            )
            check = db.execute("PRAGMA quick_check(1)").fetchone()[0]
            if check != "ok":
                raise sqlite3.DatabaseError(check)
        except BaseException:
            db.close()
            raise
        self._db = db

    def _was_accepted(self, column: str, value: str, now: Moment) -> bool:
        """Whether the newest job with this value came within the last hour, by a clock that does not jump."""
        query = f"SELECT seq, job FROM jobs WHERE {column} = ? ORDER BY seq DESC LIMIT 1"
        for seq, blob in self._read(query, value):
            job = _decoded(seq, blob, Job)
            return job is None or now.seconds_since(job.accepted_at) < DUPLICATE_WINDOW_S
        return False

    def _read(self, query: str, *values: str) -> list[Any]:
        try:
            return self._connected().execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise JournalError(f"the journal cannot be read: {error}") from error

    def _connected(self) -> sqlite3.Connection:
        if self._db is None:
            raise JournalError("the journal is closed")
        return self._db

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        db = self._connected()
        try:
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")
        except sqlite3.Error as error:
            raise JournalError(f"the journal cannot be written: {error}") from error
        finally:
            if db.in_transaction:
                with contextlib.suppress(sqlite3.Error):
                    db.execute("ROLLBACK")


def _decoded(seq: int, blob: bytes, kind: type[T]) -> T | None:
    """What a row holds; None, with a line in the log, where another version of the daemon wrote it."""
    try:
        return msgspec.msgpack.decode(blob, type=kind)
    except msgspec.DecodeError as error:
        log.error("the journal's record %d cannot be read and is left alone: %s", seq, error)  # noqa: TRY400 (its sentence tells all)
        return None
