"""What is on disk survives, once and whole."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from daemon.jobs.journal import DUPLICATE_WINDOW_S, KEEP_FINISHED_S, Entry, Journal, JournalError, Repeated
from daemon.mqtt.messages import Event, Result
from tests.jobs.samples import FakeClock, a_job


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "journal.sqlite"


def opened(path: Path) -> Journal:
    journal = Journal(path)
    journal.open()
    return journal


def finished(job_id: str) -> Result:
    return Result(id=job_id, event=Event.FINISHED, at="2026-01-01T00:00:00.000Z")


def test_an_accepted_job_is_there_after_a_restart(path: Path, clock: FakeClock) -> None:
    job = a_job(clock, text="洗衣机已经洗好了", correlation_data=b"\x00\xff")
    journal = opened(path)
    journal.accept([(job, False)])
    journal.begin(1)
    journal.close()
    again = opened(path)
    assert again.open_jobs() == [Entry(1, job, attempts=1)]
    again.close()


def test_a_finished_job_is_not_open_and_is_told_until_published(path: Path, clock: FakeClock) -> None:
    journal = opened(path)
    journal.accept([(a_job(clock), False)])
    journal.finish([(1, finished("one"))], clock())
    assert journal.open_jobs() == []
    assert [(seq, result.event) for seq, _, result in journal.untold()] == [(1, "finished")]
    journal.published([1])
    assert journal.untold() == []
    journal.close()


def test_the_first_final_result_stays(path: Path, clock: FakeClock) -> None:
    journal = opened(path)
    journal.accept([(a_job(clock), False)])
    journal.finish([(1, finished("one"))], clock())
    late = Result(id="one", event=Event.FAILED, at="2026-01-01T00:00:01.000Z")
    journal.finish([(1, late)], clock())
    assert [result.event for _, _, result in journal.untold()] == ["finished"]
    journal.close()


def test_an_id_is_a_duplicate_for_an_hour(path: Path, clock: FakeClock) -> None:
    journal = opened(path)
    assert isinstance(journal.accept([(a_job(clock), False)])[0], Entry)
    clock.advance(DUPLICATE_WINDOW_S - 1)
    repeated = journal.accept([(a_job(clock), False)])[0]
    assert isinstance(repeated, Repeated)
    assert not repeated.by_broker
    clock.advance(2)
    assert isinstance(journal.accept([(a_job(clock), False)])[0], Entry)
    journal.close()


def test_two_of_one_id_in_one_batch_are_one_job(path: Path, clock: FakeClock) -> None:
    journal = opened(path)
    outcomes = journal.accept([(a_job(clock), False), (a_job(clock), False)])
    assert [type(outcome) for outcome in outcomes] == [Entry, Repeated]
    journal.close()


def test_a_broker_repetition_is_known_by_its_fingerprint(path: Path, clock: FakeClock) -> None:
    journal = opened(path)
    journal.accept([(a_job(clock, id="made-up-1", fingerprint="t|7|abc"), False)])
    redelivered = a_job(clock, id="made-up-2", fingerprint="t|7|abc")
    outcome = journal.accept([(redelivered, True)])[0]
    assert isinstance(outcome, Repeated)
    assert outcome.by_broker
    never_seen = a_job(clock, id="made-up-3", fingerprint="t|8|abc")
    assert isinstance(journal.accept([(never_seen, True)])[0], Entry)
    journal.close()


def test_a_withdrawn_id_may_be_used_again(path: Path, clock: FakeClock) -> None:
    journal = opened(path)
    journal.accept([(a_job(clock), False)])
    journal.withdraw([1])
    assert isinstance(journal.accept([(a_job(clock), False)])[0], Entry)
    journal.close()


def test_replay_finds_the_last_that_was_finished(path: Path, clock: FakeClock) -> None:
    journal = opened(path)
    assert journal.last_finished() is None
    for number, event in enumerate([Event.FINISHED, Event.FINISHED, Event.FAILED], start=1):
        journal.accept([(a_job(clock, id=f"job-{number}"), False)])
        result = Result(id=f"job-{number}", event=event, at="2026-01-01T00:00:00.000Z")
        clock.advance(1)
        journal.finish([(number, result)], clock())
    last = journal.last_finished()
    assert last is not None
    assert last.id == "job-2"
    journal.close()


def test_old_ended_jobs_are_forgotten_and_open_ones_are_not(path: Path, clock: FakeClock) -> None:
    journal = opened(path)
    journal.accept([(a_job(clock, id="ended"), False), (a_job(clock, id="open"), False)])
    journal.finish([(1, finished("ended"))], clock())
    journal.published([1])
    clock.advance(KEEP_FINISHED_S + 1)
    assert journal.forget_old(clock()) == 1
    assert [entry.job.id for entry in journal.open_jobs()] == ["open"]
    journal.close()


def test_a_damaged_file_is_put_aside(path: Path, clock: FakeClock) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b"this is no database" * 1000)
    journal = opened(path)
    assert isinstance(journal.accept([(a_job(clock), False)])[0], Entry)
    journal.close()
    assert len(list(path.parent.glob("journal.broken-*"))) == 1


def test_a_full_disk_is_an_error_and_leaves_what_was_there(path: Path, clock: FakeClock) -> None:
    journal = opened(path)
    journal.accept([(a_job(clock, id="kept"), False)])
    limit = sqlite3.connect(path)
    pages = limit.execute("PRAGMA page_count").fetchone()[0]
    limit.close()
    connection = journal._connected()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    many = [(a_job(clock, id=f"job-{number}", text="x" * 1000), False) for number in range(1000)]
    with pytest.raises(JournalError, match="full"):
        journal.accept(many)
    connection.execute("PRAGMA max_page_count = 100000")
    assert [entry.job.id for entry in journal.open_jobs()] == ["kept"]
    assert isinstance(journal.accept([(a_job(clock, id="later"), False)])[0], Entry)
    journal.close()


_WRITER = """
import os, sys
from pathlib import Path
from daemon.jobs.journal import Journal
from tests.jobs.samples import FakeClock, a_job
journal = Journal(Path(sys.argv[1])); journal.open(); clock = FakeClock()
for number in range(10000):
    journal.accept([(a_job(clock, id=f"job-{number}"), False)])
    os.write(1, f"{number}\\n".encode())
"""


def test_what_was_committed_before_a_kill_is_there(path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        told = [int(writer.stdout.readline()) for _ in range(50)]
        writer.kill()
    journal = opened(path)
    kept = {entry.job.id for entry in journal.open_jobs()}
    assert {f"job-{number}" for number in told} <= kept
    journal.close()


def test_a_fault_inside_a_transaction_does_not_lock_the_journal(path: Path, clock: FakeClock) -> None:
    journal = opened(path)
    with pytest.raises(UnicodeEncodeError):
        journal.accept([(a_job(clock, id="\ud800"), False)])
    assert isinstance(journal.accept([(a_job(clock), False)])[0], Entry)
    journal.close()


def test_a_job_of_another_version_costs_itself_and_not_the_start(path: Path, clock: FakeClock) -> None:
    journal = opened(path)
    journal.accept(
        [(a_job(clock, id="foreign"), False), (a_job(clock, id="told"), False), (a_job(clock), False)]
    )
    journal.finish([(2, finished("told"))], clock())
    journal.close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE jobs SET job = ? WHERE seq < 3", (b"\x80",))
    db.close()
    again = opened(path)
    assert [entry.seq for entry in again.open_jobs()] == [3]
    assert again.untold() == []
    assert again.last_finished() is None
    again.close()


def test_the_files_are_not_for_everybody(path: Path, clock: FakeClock) -> None:
    journal = opened(path)
    journal.accept([(a_job(clock), False)])
    modes = {file.name: file.stat().st_mode & 0o007 for file in path.parent.glob("journal*")}
    assert len(modes) == 3
    assert set(modes.values()) == {0}
    journal.close()


@pytest.mark.parametrize("jump_s", [7200.0, -7200.0])
def test_a_wall_clock_that_jumps_neither_hides_a_repetition_nor_makes_one(
    path: Path, clock: FakeClock, jump_s: float
) -> None:
    journal = opened(path)
    journal.accept([(a_job(clock, id="same"), False)])
    clock.advance(60.0)
    clock.wall_s += jump_s
    assert isinstance(journal.accept([(a_job(clock, id="same"), False)])[0], Repeated)
    clock.advance(DUPLICATE_WINDOW_S - 59.0)
    assert isinstance(journal.accept([(a_job(clock, id="same"), False)])[0], Entry)
    journal.close()
