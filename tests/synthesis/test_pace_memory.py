from pathlib import Path

import pytest

from cosyvoice.pacing import UNKNOWN_RTF
from daemon.synthesis.cosyvoice3.memory import PaceMemory


def test_nothing_is_known_at_first(tmp_path: Path) -> None:
    assert PaceMemory(tmp_path / "pace.json", "balanced", 2).rtf == UNKNOWN_RTF


def test_what_was_learnt_outlives_the_worker(tmp_path: Path) -> None:
    PaceMemory(tmp_path / "pace.json", "balanced", 2).learn(0.8)
    assert PaceMemory(tmp_path / "pace.json", "balanced", 2).rtf == 0.8


@pytest.mark.parametrize(("quality", "threads"), [("fast", 2), ("balanced", 4)])
def test_another_preset_or_number_of_threads_is_another_pace(
    tmp_path: Path, quality: str, threads: int
) -> None:
    PaceMemory(tmp_path / "pace.json", "balanced", 2).learn(0.8)
    assert PaceMemory(tmp_path / "pace.json", quality, threads).rtf == UNKNOWN_RTF


def test_one_slow_announcement_does_not_decide(tmp_path: Path) -> None:
    memory = PaceMemory(tmp_path / "pace.json", "balanced", 2)
    memory.learn(1.0)
    memory.learn(5.0)
    assert 1.0 < memory.rtf < 3.0


def test_small_changes_spare_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "pace.json"
    memory = PaceMemory(path, "balanced", 2)
    memory.learn(1.0)
    written = path.stat().st_mtime_ns
    memory.learn(1.01)
    assert path.stat().st_mtime_ns == written


@pytest.mark.parametrize("text", ["", "{}", '{"quality": "balanced", "threads": 2, "rtf": -1}', "nonsense"])
def test_a_damaged_file_counts_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "pace.json").write_text(text)
    assert PaceMemory(tmp_path / "pace.json", "balanced", 2).rtf == UNKNOWN_RTF
