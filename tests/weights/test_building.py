"""A folder is whole under its name, whenever the power fails."""

import subprocess
import sys
from pathlib import Path

import pytest

from cosyvoice.errors import ModelError
from cosyvoice.weights import building, manifest


def made(folder: Path, text: str) -> None:
    """What a finished folder looks like."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / manifest.FILE).write_text(text)


def text_in(folder: Path) -> str:
    return (folder / manifest.FILE).read_text()


def test_it_appears_when_it_is_finished(tmp_path: Path) -> None:
    target = tmp_path / "new" / "model"
    with building.atomic_folder(target) as folder:
        made(folder, "first")
        assert not target.exists()
    assert text_in(target) == "first"
    assert list(target.parent.iterdir()) == [target]


def test_it_replaces_a_prepared_folder(tmp_path: Path) -> None:
    target = tmp_path / "model"
    made(target, "old")
    (target / "leftover").touch()
    with building.atomic_folder(target) as folder:
        made(folder, "new")
        assert text_in(target) == "old"
    assert text_in(target) == "new"
    assert not (target / "leftover").exists()


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "model"
    made(target, "old")
    with pytest.raises(KeyboardInterrupt), building.atomic_folder(target):
        raise KeyboardInterrupt
    assert text_in(target) == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_killed_run_is_cleared_away_by_the_next(tmp_path: Path) -> None:
    target = tmp_path / "model"
    script = (
        "import os, pathlib, sys\n"
        "from cosyvoice.weights import building\n"
        "with building.atomic_folder(pathlib.Path(sys.argv[1])) as folder:\n"
        "    (folder / 'half').touch()\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(target)], check=False, timeout=50)
    assert not target.exists()
    assert [path.name for path in tmp_path.iterdir()] == [".model.partial"]
    with building.atomic_folder(target) as folder:
        made(folder, "whole")
    assert [path.name for path in target.iterdir()] == [manifest.FILE]
    assert list(tmp_path.iterdir()) == [target]


def test_power_lost_between_the_two_renames_costs_nothing(tmp_path: Path) -> None:
    target = tmp_path / "model"
    made(tmp_path / ".model.old", "old")
    with pytest.raises(RuntimeError, match="later"), building.atomic_folder(target):
        raise RuntimeError("later")
    assert text_in(target) == "old"


def test_what_is_no_model_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "1.jpg").touch()
    with (
        pytest.raises(ModelError, match="holds something else than a prepared model"),
        building.atomic_folder(tmp_path / "photos"),
    ):
        pass
    assert (tmp_path / "photos" / "1.jpg").exists()


def test_two_do_not_build_at_once(tmp_path: Path) -> None:
    with (
        building.atomic_folder(tmp_path / "a"),
        pytest.raises(ModelError, match="another process is making a model"),
        building.atomic_folder(tmp_path / "b"),
    ):
        pass


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelError) as caught, building.atomic_folder(tmp_path / "file" / "model"):
        pass
    assert "cannot be written" in str(caught.value)


def test_a_full_disk_is_told_beforehand(tmp_path: Path) -> None:
    building.check_disk(tmp_path, 1000)
    with pytest.raises(ModelError, match=r"GB free, and 1000000\.1 GB are needed"):
        building.check_disk(tmp_path, 10**15)


def test_a_link_takes_no_space_and_a_symbolic_one_is_followed(tmp_path: Path) -> None:
    source, cached, target = tmp_path / "source", tmp_path / "cached", tmp_path / "to" / "target"
    source.write_text("content")
    cached.symlink_to(source)
    building.link_or_copy(cached, target)
    assert not target.is_symlink()
    assert target.samefile(source)


def test_without_links_it_is_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_self: Path, _target: Path) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text("content")
    building.link_or_copy(source, target)
    assert target.read_text() == "content"
    assert not target.samefile(source)
