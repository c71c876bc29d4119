"""Pruning keeps a folder within its limits, oldest use first, and spares what was just named."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.config import Store
from daemon.storage.prune import Stored, choose, prune

MIB = 2**20
NOW_S = 1_800_000_000.0


def stored(name: str, mib: float, age_s: float) -> Stored:
    return Stored(Path(name), int(mib * MIB), NOW_S - age_s)


def names(files: list[Stored]) -> list[str]:
    return [file.path.name for file in files]


def test_the_least_recently_used_go_first_until_the_size_fits() -> None:
    files = [stored("new", 1, 10), stored("old", 1, 30), stored("middle", 1, 20)]
    assert names(choose(files, Store(max_mib=2, keep_recent_s=0), NOW_S)) == ["old"]


def test_count_and_age_are_limits_too() -> None:
    files = [stored(f"{age}", 0.1, age * 86400) for age in (1, 2, 3, 40)]
    assert names(choose(files, Store(max_files=3), NOW_S)) == ["40"]
    assert names(choose(files, Store(max_age_days=2.5), NOW_S)) == ["40", "3"]


def test_what_was_named_lately_is_spared_even_over_the_limit() -> None:
    files = [stored("a", 5, 10), stored("b", 5, 20)]
    assert choose(files, Store(max_mib=1, keep_recent_s=60), NOW_S) == []


@given(
    st.lists(st.tuples(st.integers(0, 3 * MIB), st.integers(0, 10_000_000)), max_size=30),
    st.integers(1, 10),
    st.integers(1, 20),
)
def test_what_stays_fits(sizes: list[tuple[int, int]], max_mib: int, max_files: int) -> None:
    files = [Stored(Path(str(n)), size, NOW_S - age) for n, (size, age) in enumerate(sizes)]
    limits = Store(max_mib=max_mib, max_files=max_files, keep_recent_s=0)
    left = set(files) - set(choose(files, limits, NOW_S))
    assert sum(file.bytes for file in left) <= max_mib * MIB
    assert len(left) <= max_files
    assert all(NOW_S - file.used_wall_s <= limits.max_age_days * 86400 for file in left)


def test_on_disk_sidecars_and_leftovers_go_and_other_files_stay(tmp_path: Path) -> None:
    for name in ("old.wav", "old.json", "new.wav", "notes.txt", ".dead.part", ".young.part"):
        (tmp_path / name).write_bytes(b"x" * 100)
    long_ago_s = time.time() - 40 * 86400
    for name in ("old.wav", ".dead.part", "notes.txt"):
        os.utime(tmp_path / name, (long_ago_s, long_ago_s))
    assert prune(tmp_path, Store()) == 100
    assert {path.name for path in tmp_path.iterdir()} == {"new.wav", "notes.txt", ".young.part"}


def test_a_link_in_the_folder_is_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "outputs"
    folder.mkdir()
    outside = tmp_path / "precious.wav"
    outside.write_bytes(b"x")
    os.utime(outside, (0, 0))
    (folder / "link.wav").symlink_to(outside)
    prune(folder, Store())
    assert outside.exists()


@pytest.mark.parametrize("folder", ["missing", "."])
def test_an_empty_or_missing_folder_is_fine(tmp_path: Path, folder: str) -> None:
    assert prune(tmp_path / folder, Store()) == 0
