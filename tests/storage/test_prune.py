"""On the disk, pruning touches nothing else, and goes on past what it cannot delete."""

import logging
import os
from pathlib import Path

import pytest

from daemon.config import Store
from daemon.storage import prune as pruning
from daemon.storage.phrases import Phrase, PhraseCache
from daemon.storage.prune import Stored, prune, sweep
from tests.storage.samples import a_wav, aged, open_folder, without_write_access

DAY_S = 86400.0
KEY = "ab" * 32


def write(folder: Path, *names: str, age_s: float = 0.0) -> None:
    for name in names:
        (folder / name).write_bytes(b"x" * 100)
        aged(folder / name, age_s)


def left_in(folder: Path) -> set[str]:
    return set(os.listdir(folder))


def test_sidecars_and_leftovers_go_and_other_files_stay(tmp_path: Path) -> None:
    write(tmp_path, "new.wav", ".young.part")
    write(tmp_path, "old.wav", "old.json", ".dead.part", "notes.txt", "notes.json", age_s=40 * DAY_S)
    pruned = prune(tmp_path, Store())
    assert (pruned.kept_bytes, pruned.freed_bytes) == (100, 200)
    assert {file.path.name for file in pruned.removed} == {"old.wav", ".dead.part"}
    assert left_in(tmp_path) == {"new.wav", "notes.txt", "notes.json", ".young.part"}


def test_a_dry_run_tells_the_same_and_deletes_nothing(tmp_path: Path) -> None:
    write(tmp_path, "old.wav", ".dead.part", age_s=40 * DAY_S)
    write(tmp_path, "new.wav")
    told = prune(tmp_path, Store(), dry_run=True)
    assert left_in(tmp_path) == {"old.wav", ".dead.part", "new.wav"}
    assert prune(tmp_path, Store()) == told


def test_what_is_protected_stays_with_its_sidecar(tmp_path: Path) -> None:
    write(tmp_path, f"{KEY}.wav", f"{KEY}.json", "other.wav", age_s=40 * DAY_S)
    prune(tmp_path, Store(), protected={tmp_path / f"{KEY}.wav"}, short_bytes=10**9)
    assert left_in(tmp_path) == {f"{KEY}.wav", f"{KEY}.json"}


def test_a_phrase_used_between_the_choice_and_its_turn_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a.wav", "b.wav", age_s=40 * DAY_S)
    choose = pruning.choose

    def choose_while_somebody_plays(*arguments: object) -> list[Stored]:
        doomed = choose(*arguments)  # type: ignore[arg-type]  # handed on as they are
        os.utime(tmp_path / "a.wav")
        (tmp_path / "b.wav").unlink()
        return doomed

    monkeypatch.setattr(pruning, "choose", choose_while_somebody_plays)
    pruned = prune(tmp_path, Store())
    assert left_in(tmp_path) == {"a.wav"}
    assert [file.path.name for file in pruned.kept] == ["a.wav"]
    assert pruned.failures == []


@pytest.mark.parametrize("cut_off", ["wav gone", "json gone"])
def test_half_a_pruned_phrase_is_not_found_and_goes_with_time(tmp_path: Path, cut_off: str) -> None:
    cache = PhraseCache(tmp_path)
    a_wav(cache.wav(KEY))
    cache.describe(KEY, Phrase(engine="e", voice="v", sample_rate_hz=24000, duration_s=1.0, degraded=()))
    assert cache.find(KEY) is not None
    cache.wav(KEY).with_suffix(".wav" if cut_off == "wav gone" else ".json").unlink()
    assert cache.find(KEY) is None
    for name in left_in(tmp_path):
        aged(tmp_path / name, 100 * DAY_S)
    prune(tmp_path, Store())
    assert left_in(tmp_path) == set()


def test_a_link_is_neither_followed_nor_deleted(tmp_path: Path) -> None:
    folder = tmp_path / "outputs"
    folder.mkdir()
    write(tmp_path, "precious.wav", age_s=40 * DAY_S)
    (folder / "link.wav").symlink_to(tmp_path / "precious.wav")
    (folder / ".link.part").symlink_to(tmp_path / "precious.wav")
    prune(folder, Store(max_mib=1), short_bytes=10**9)
    assert (tmp_path / "precious.wav").exists()
    assert left_in(folder) == {"link.wav", ".link.part"}


def test_odd_things_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "folder.wav").mkdir()
    os.mkfifo(tmp_path / "fifo.wav")
    (tmp_path / os.fsdecode(b"\xff\n.wav")).write_bytes(b"x")
    aged(tmp_path / "folder.wav", 40 * DAY_S)
    pruned = prune(tmp_path, Store(keep_recent_s=0), short_bytes=1)
    assert left_in(tmp_path) == {"folder.wav", "fifo.wav"}
    assert pruned.failures == []


def test_one_that_cannot_be_deleted_stops_no_other(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path, "a.wav", "b.wav", age_s=40 * DAY_S)
    (tmp_path / "a.json").mkdir()
    pruned = prune(tmp_path, Store())
    assert left_in(tmp_path) == {"a.json"}
    assert [failure.path.name for failure in pruned.failures] == ["a.wav"]
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


def test_a_folder_of_somebody_else_is_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    with open_folder() as folder:
        write(folder, "a.wav", "b.wav", age_s=40 * DAY_S)
        with without_write_access(folder):
            pruned = prune(folder, Store())
        assert left_in(folder) == {"a.wav", "b.wav"}
    assert (len(pruned.failures), pruned.kept_bytes, pruned.removed) == (2, 200, [])
    assert len(caplog.records) == 1
    assert "2 files of" in caplog.text
    assert "Permission denied" in caplog.text


def test_what_could_not_be_deleted_last_time_either_is_no_news(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path, "outputs")
    known = prune(tmp_path / "outputs", Store()).failures
    prune(tmp_path / "outputs", Store(), known=known)
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


@pytest.mark.parametrize("folder", ["missing", "."])
def test_an_empty_or_missing_folder_is_fine(tmp_path: Path, folder: str) -> None:
    assert sweep(tmp_path / folder, Store()) == ([], [], [])


def test_a_file_in_the_place_of_the_folder_is_told_and_survives(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path, "outputs")
    assert prune(tmp_path / "outputs", Store()).failures == [(tmp_path / "outputs", "Not a directory")]
    assert len(caplog.records) == 1
