"""A folder that cannot be written is one sentence that names the option."""

from pathlib import Path

import pytest

from daemon.storage.folders import StorageError, make_folder


def test_a_folder_is_made_with_its_parents(tmp_path: Path) -> None:
    make_folder(tmp_path / "a" / "b", "state.path", 0o750)
    assert (tmp_path / "a" / "b").stat().st_mode & 0o007 == 0
    make_folder(tmp_path / "a" / "b", "state.path", 0o750)


def test_a_file_in_its_place_is_named_with_the_option(tmp_path: Path) -> None:
    (tmp_path / "outputs").write_text("")
    for folder in (tmp_path / "outputs", tmp_path / "outputs" / "deeper"):
        with pytest.raises(StorageError, match=r"outputs \(outputs\.path\)|deeper \(outputs\.path\)"):
            make_folder(folder, "outputs.path", 0o755)


def test_a_folder_of_the_kernel_is_refused() -> None:
    with pytest.raises(StorageError, match="cannot be written"):
        make_folder(Path("/proc/outputs"), "outputs.path", 0o755)
