"""`cosyvoiced outputs`: what is there, what goes, and why something stays."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from daemon import cli
from tests.storage.samples import a_wav, aged, open_folder, without_write_access

DAY_S = 86400.0


class Place:
    """A configuration and its folder of WAV files."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = root / "outputs"
        self.folder.mkdir()
        self._root = root
        self._capsys = capsys
        self.configure()

    def configure(self, outputs: str = "", free_mib: int = 0) -> None:
        (self._root / "c.yaml").write_text(
            f"outputs: {{path: {self.folder}, {outputs}}}\nstate: {{path: {self._root}/state}}\n"
            f"watch: {{disk: {{refuse_mib: 0, prune_mib: {free_mib}}}}}\n"
        )

    def outputs(self, *arguments: str, code: int = 0) -> tuple[str, str]:
        assert cli.main(["outputs", *arguments, "--config", str(self._root / "c.yaml")]) == code
        return self._capsys.readouterr()

    def json(self, *arguments: str, code: int = 0) -> Any:
        return json.loads(self.outputs(*arguments, "--json", code=code)[0])

    def names(self) -> list[str]:
        return sorted(os.listdir(self.folder))


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Place:
    return Place(tmp_path, capsys)


def test_the_list_is_aligned_and_ends_with_total_and_limits(place: Place) -> None:
    a_wav(place.folder / "new.wav", 12.5, age_s=10)
    old = a_wav(place.folder / "old.wav", 1.0, age_s=DAY_S)
    used = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(old.stat().st_mtime))
    lines = place.outputs("list")[0].splitlines()
    assert lines[0] == f"{used}     1.0 s     47 KiB  old.wav"
    assert lines[1].endswith("    12.5 s    586 KiB  new.wav")
    assert lines[2:] == [
        f"total   2 files, 633 KiB in {place.folder}",
        "limits  512 MiB, 5000 files, 30 days",
    ]


def test_the_list_for_programs_is_stable(place: Place) -> None:
    aged(a_wav(place.folder / "a.wav", 0.5), time.time())
    assert place.json("list") == {
        "folder": str(place.folder),
        "files": [
            {
                "path": str(place.folder / "a.wav"),
                "used_at": "1970-01-01T00:00:00.000Z",
                "bytes": 24044,
                "duration_s": 0.5,
                "problem": None,
            }
        ],
        "total_bytes": 24044,
        "limits": {
            "max_mib": 512,
            "max_age_days": 30.0,
            "max_files": 5000,
            "keep_recent_s": 600.0,
            "min_free_mib": 0,
        },
    }


@pytest.mark.parametrize("action", ["list", "prune"])
def test_a_folder_that_is_empty_or_not_there_is_fine(place: Place, action: str) -> None:
    assert f"0 files, 0 B in {place.folder}" in place.outputs(action)[0]
    place.folder.rmdir()
    assert f"0 files, 0 B in {place.folder}" in place.outputs(action)[0]
    assert not place.folder.exists()


def test_damaged_files_are_listed_as_such(place: Place) -> None:
    whole = a_wav(place.folder / "whole.wav").read_bytes()
    (place.folder / "cut.wav").write_bytes(whole[:1000])
    (place.folder / "empty.wav").write_bytes(b"")
    (place.folder / "stereo.wav").write_bytes(whole[:22] + b"\x02" + whole[23:])
    (place.folder / "mangled.wav").write_bytes(whole[:16] + b"\xff" + whole[17:])
    problems = {Path(file["path"]).name: file["problem"] for file in place.json("list")["files"]}
    assert problems.pop("whole.wav") is None
    assert problems.pop("cut.wav") == "damaged: it is cut short"
    assert problems.pop("empty.wav") == "damaged: it is not a WAV file"
    assert all(problem.startswith("damaged: it is not ") for problem in problems.values())
    assert "        -     1000 B  cut.wav: damaged: it is cut short\n" in place.outputs("list")[0]


def test_a_name_cannot_harm_the_terminal_and_programs_get_it_back(place: Place) -> None:
    odd = [os.fsdecode(b"\xff\x1b[31m.wav"), "晚饭\n.wav"]
    for name in odd:
        a_wav(place.folder / name)
    shown = place.outputs("list")[0]
    assert "\\udcff\\x1b[31m.wav\n" in shown
    assert "晚饭\\n.wav\n" in shown
    assert len(shown.splitlines()) == 4
    assert sorted(Path(file["path"]).name for file in place.json("list")["files"]) == sorted(odd)


def test_prune_tells_what_goes_and_does_it(place: Place) -> None:
    place.configure("max_files: 1")
    for name, age_s in (("a.wav", 3 * DAY_S), ("b.wav", 2 * DAY_S), ("c.wav", DAY_S)):
        a_wav(place.folder / name, age_s=age_s)
    lines = place.outputs("prune", "--dry-run")[0].splitlines()
    assert [line[-5:] for line in lines[:2]] == ["a.wav", "b.wav"]
    assert lines[2:4] == [
        "would go      2 files, 94 KiB",
        f"would stay    1 file, 47 KiB in {place.folder}",
    ]
    assert place.names() == ["a.wav", "b.wav", "c.wav"]
    lines = place.outputs("prune")[0].splitlines()
    assert lines[2:4] == ["deleted       2 files, 94 KiB", f"kept          1 file, 47 KiB in {place.folder}"]
    assert place.names() == ["c.wav"]


def test_prune_says_why_it_keeps_more_than_the_limit(place: Place) -> None:
    place.configure("max_files: 1", free_mib=10**9)
    for name in ("a.wav", "b.wav"):
        a_wav(place.folder / name)
    over = next(line for line in place.outputs("prune")[0].splitlines() if line.startswith("still over"))
    assert over.startswith("still over    2 files instead of 1; the disk lacks ")
    assert over.endswith(" MiB free; 2 from the last 600 s stay (outputs.keep_recent_s)")
    assert place.names() == ["a.wav", "b.wav"]


def test_a_disk_that_is_nearly_full_takes_old_files_before_their_time(place: Place) -> None:
    a_wav(place.folder / "old.wav", age_s=DAY_S)
    a_wav(place.folder / "new.wav")
    assert place.json("prune")["removed"] == []
    place.configure(free_mib=10**9)
    report = place.json("prune")
    assert [Path(file["path"]).name for file in report["removed"]] == ["old.wav"]
    assert (report["freed_bytes"], report["kept_files"], report["kept_as_recent"]) == (48044, 1, 1)
    assert report["short_bytes"] > 0


def test_the_phrase_cache_is_told_of_and_left_to_the_daemon(place: Place, tmp_path: Path) -> None:
    phrases = tmp_path / "state" / "phrases"
    phrases.mkdir(parents=True)
    a_wav(phrases / f"{'ab' * 32}.wav", age_s=1000 * DAY_S)
    line = place.outputs("prune")[0].splitlines()[-1]
    assert line == f"phrase cache  1 phrase, 47 KiB in {phrases}; the daemon prunes it each minute"
    assert place.json("prune")["phrases"] == {
        "folder": str(phrases),
        "phrases": 1,
        "bytes": 48044,
        "problem": None,
    }


def test_what_cannot_be_deleted_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with open_folder() as root:
        place = Place(root, capsys)
        for name in ("a.wav", "b.wav"):
            a_wav(place.folder / name, age_s=40 * DAY_S)
        place.outputs("list")
        with without_write_access(place.folder):
            shown, error = place.outputs("prune", code=1)
            report = place.json("prune", code=1)
        assert place.names() == ["a.wav", "b.wav"]
    assert "deleted       0 files" in shown
    assert error.startswith(f"cosyvoiced: {place.folder}/")
    assert error.endswith(
        "cannot be deleted: Permission denied, and 1 more; run this as the user whose files they are\n"
    )
    assert len(report["failures"]) == 2


@pytest.mark.parametrize("action", ["list", "prune"])
def test_a_file_in_the_place_of_the_folder_is_one_sentence(place: Place, action: str) -> None:
    place.folder.rmdir()
    place.folder.write_text("")
    shown, error = place.outputs(action, code=1)
    assert shown == ""
    assert error == f"cosyvoiced: the folder {place.folder} (outputs.path) cannot be read: Not a directory\n"


def test_a_wrong_configuration_is_78(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("outputs: {max_files: 0}\n")
    assert cli.main(["outputs", "list", "--config", str(tmp_path / "c.yaml")]) == cli.EXIT_CONFIG
