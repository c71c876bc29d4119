"""A full disk: announcements are accepted in memory, none twice, and ends are written later."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.jobs.fallback import FIRST_SEQ_IN_MEMORY, FallbackJournal
from daemon.jobs.journal import Entry, JournalError, Repeated
from daemon.mqtt.messages import Event, Result
from tests.fakes.disk import SmallDisk
from tests.jobs.samples import FakeClock, a_job

CLOCK = FakeClock()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with SmallDisk(tmp_path / "disk", mib=2) as disk:
        yield disk


@pytest.fixture
def journal(disk: SmallDisk) -> Iterator[FallbackJournal]:
    journal = FallbackJournal(disk.folder / "journal.sqlite")
    journal.open()
    yield journal
    journal.close(CLOCK())


def accept(journal: FallbackJournal, *ids: str, dup: bool = False) -> list[Entry | Repeated]:
    return journal.accept(
        [(a_job(CLOCK, id=job_id, fingerprint=f"print of {job_id}"), dup) for job_id in ids]
    )


def entries(journal: FallbackJournal, *ids: str) -> list[Entry]:
    found = [outcome for outcome in accept(journal, *ids) if isinstance(outcome, Entry)]
    assert len(found) == len(ids)
    return found


def finished(entry: Entry) -> tuple[int, Result]:
    return entry.seq, Result(id=entry.job.id, event=Event.FINISHED, at="now")


def test_on_a_full_disk_jobs_are_accepted_in_memory_and_on_disk_again_when_it_has_room(
    journal: FallbackJournal, disk: SmallDisk
) -> None:
    (before,) = entries(journal, "before")
    disk.fill()
    held = [entry for n in range(200) for entry in entries(journal, f"full {n}")]
    assert journal.problem is not None
    assert held[-1].seq >= FIRST_SEQ_IN_MEMORY
    assert [entry.seq for entry in held] == sorted(entry.seq for entry in held)
    disk.empty()
    (after,) = entries(journal, "after")
    assert journal.problem is None
    assert before.seq < after.seq < FIRST_SEQ_IN_MEMORY


def test_no_id_is_accepted_twice_whichever_journal_has_it(journal: FallbackJournal, disk: SmallDisk) -> None:
    accept(journal, "on disk")
    disk.fill()
    while journal.problem is None:
        accept(journal, os.urandom(200).hex())
    accept(journal, "in memory")
    for _ in range(2):
        outcomes = accept(journal, "on disk", "in memory")
        assert [type(outcome) for outcome in outcomes] == [Repeated, Repeated]
        outcomes = accept(journal, "on disk", "in memory", dup=True)
        assert [outcome.by_broker for outcome in outcomes if isinstance(outcome, Repeated)] == [True, True]
        if journal.problem is not None:
            disk.empty()
            accept(journal, "room again")
    assert journal.problem is None


def test_an_end_that_a_full_disk_refused_is_written_when_it_has_room(
    journal: FallbackJournal, disk: SmallDisk
) -> None:
    spoken = entries(journal, *(f"job {n}" for n in range(200)))
    disk.fill()
    for entry in spoken:
        journal.finish([finished(entry)], CLOCK())
    assert journal.problem is not None
    disk.empty()
    journal.settle(CLOCK())
    assert journal.problem is None
    journal.close(CLOCK())
    journal.open()
    assert journal.open_jobs() == []


def test_a_start_on_a_full_disk_is_a_start_and_the_file_is_opened_later(
    journal: FallbackJournal, disk: SmallDisk
) -> None:
    entries(journal, "before")
    journal.close(CLOCK())
    disk.fill()
    journal.open()
    assert journal.problem is not None
    (entry,) = entries(journal, "meanwhile")
    journal.finish([finished(entry)], CLOCK())
    disk.empty()
    assert [entry.job.id for entry in journal.settle(CLOCK())] == ["before"]
    assert journal.problem is None
    assert [entry.job.id for entry in journal.open_jobs()] == ["before"]
    assert isinstance(accept(journal, "before")[0], Repeated)


def test_a_file_that_cannot_be_opened_for_another_reason_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "journal.sqlite").mkdir()
    with pytest.raises(JournalError):
        FallbackJournal(tmp_path / "journal.sqlite").open()


def test_what_is_in_memory_is_told_finished_and_replayed_like_the_rest(
    journal: FallbackJournal, disk: SmallDisk
) -> None:
    disk.fill()
    while journal.problem is None:
        accept(journal, os.urandom(200).hex())
    (entry,) = entries(journal, "in memory")
    journal.begin(entry.seq)
    journal.finish([finished(entry)], CLOCK())
    assert [seq for seq, _, _ in journal.untold()] == [entry.seq]
    journal.published([entry.seq])
    assert journal.untold() == []
    assert journal.last_finished() == entry.job
    journal.withdraw([entry.seq])
    assert isinstance(accept(journal, "in memory")[0], Entry)


def test_what_waits_in_memory_moves_to_the_file_and_survives_then(
    journal: FallbackJournal, disk: SmallDisk
) -> None:
    disk.fill()
    while journal.problem is None:
        accept(journal, os.urandom(200).hex())
    waiting, ended = entries(journal, "waiting", "ended")
    journal.finish([finished(ended)], CLOCK())
    disk.empty()
    assert journal.settle(CLOCK()) == []
    journal.begin(waiting.seq)
    again = FallbackJournal(disk.folder / "journal.sqlite")
    again.open()
    found = {entry.job.id: entry for entry in again.open_jobs()}
    assert found["waiting"].attempts == 1
    assert [job.id for _, job, _ in again.untold()] == ["ended"]
    again.close(CLOCK())
    journal.finish([finished(waiting)], CLOCK())
    journal.published([waiting.seq, ended.seq])
    assert "waiting" not in [entry.job.id for entry in journal.open_jobs()]
    assert journal.untold() == []


def test_closed_and_opened_again_on_a_full_disk_it_still_has_what_it_could_not_write(
    journal: FallbackJournal, disk: SmallDisk
) -> None:
    spoken = entries(journal, *(f"job {n}" for n in range(100)))
    disk.fill()
    for entry in spoken:
        journal.finish([finished(entry)], CLOCK())
    accept(journal, "meanwhile")
    journal.close(CLOCK())
    journal.open()
    assert "meanwhile" in [entry.job.id for entry in journal.open_jobs()]
    disk.empty()
    journal.settle(CLOCK())
    assert [entry.job.id for entry in journal.open_jobs()] == ["meanwhile"]


def test_what_came_again_while_the_file_was_closed_is_said_once(
    journal: FallbackJournal, disk: SmallDisk
) -> None:
    entries(journal, "twice", "once")
    journal.close(CLOCK())
    disk.fill()
    journal.open()
    (again,) = entries(journal, "twice")
    disk.empty()
    assert [entry.job.id for entry in journal.settle(CLOCK())] == ["once"]
    journal.finish([finished(again)], CLOCK())
    assert [entry.job.id for entry in journal.open_jobs()] == ["once"]


def test_an_end_does_not_swallow_the_open_jobs_of_a_file_that_is_opened_late(
    journal: FallbackJournal, disk: SmallDisk
) -> None:
    entries(journal, "before")
    journal.close(CLOCK())
    disk.fill()
    journal.open()
    (entry,) = entries(journal, "meanwhile")
    disk.empty()
    journal.finish([finished(entry)], CLOCK())
    assert [entry.job.id for entry in journal.settle(CLOCK())] == ["before"]


def test_a_file_that_is_damaged_while_open_is_put_aside_and_jobs_go_on(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    journal = FallbackJournal(path)
    journal.open()
    (before,) = entries(journal, "before")
    for file in tmp_path.iterdir():
        with file.open("r+b") as damaged:
            damaged.write(os.urandom(file.stat().st_size))
    while journal.problem is None:
        accept(journal, os.urandom(8).hex())
    (meanwhile,) = entries(journal, "meanwhile")
    journal.settle(CLOCK())
    assert journal.problem is None
    assert list(tmp_path.glob("journal.broken-*"))
    (after,) = entries(journal, "after")
    assert after.seq > before.seq
    journal.finish([finished(meanwhile), finished(after)], CLOCK())
    assert "meanwhile" not in [entry.job.id for entry in journal.open_jobs()]
    journal.close(CLOCK())


def test_the_problem_is_gone_once_the_disk_has_room_though_nothing_is_owed(
    journal: FallbackJournal, disk: SmallDisk
) -> None:
    disk.fill()
    while journal.problem is None:
        accept(journal, os.urandom(200).hex())
    accept(journal, "on disk")
    accept(journal, "on disk")  # a repetition writes nothing, and so proves nothing
    journal.settle(CLOCK())
    assert journal.problem is not None
    disk.empty()
    journal.settle(CLOCK())
    assert journal.problem is None
