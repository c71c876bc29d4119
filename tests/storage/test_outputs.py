"""Whatever an id says, a file lies right in its folder."""

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.errors import AnnouncementError
from daemon.storage.outputs import Outputs

FOLDER = Path("/srv/outputs")
ALLOWED = set(string.ascii_letters + string.digits + "-_.")


@pytest.mark.parametrize(
    "job_id",
    ["../../etc/passwd", "/etc/passwd", "..", ".", "a/b", "a\\b", "a\x00b", "晚饭", "-rf", "x" * 128],
)
def test_hostile_ids(job_id: str) -> None:
    check(job_id)


@given(st.text(min_size=1, max_size=128))
def test_any_id(job_id: str) -> None:
    check(job_id)


def check(job_id: str) -> None:
    path = Outputs(FOLDER).path_for(job_id, 7, 1_800_000_000.0)
    assert path.parent == FOLDER
    assert set(path.name) <= ALLOWED
    assert len(path.name) < 100
    assert path.name[0].isdigit()


def test_the_same_id_in_the_same_second_has_another_name() -> None:
    outputs = Outputs(FOLDER)
    assert outputs.path_for("a", 1, 1_800_000_000.0) != outputs.path_for("a", 2, 1_800_000_000.0)


def test_what_was_named_lately_is_known_by_a_clock_that_never_jumps() -> None:
    now_s = [100.0]
    outputs = Outputs(FOLDER, monotonic_s=lambda: now_s[0])
    first = outputs.path_for("a", 1, 1_800_000_000.0)
    now_s[0] += 400
    second = outputs.path_for("b", 2, 0.0)
    assert outputs.recent(600) == {first, second}
    now_s[0] += 300
    assert outputs.recent(600) == {second}
    now_s[0] += 600.1
    assert outputs.recent(600) == set()


def test_what_is_named_and_never_asked_for_takes_bounded_memory() -> None:
    outputs = Outputs(FOLDER)
    paths = [outputs.path_for("a", seq, 0.0) for seq in range(10_000)]
    assert len(outputs.recent(1e9)) < 5000
    assert paths[-1] in outputs.recent(1e9)


def test_no_file_is_begun_on_a_disk_that_is_nearly_full(tmp_path: Path) -> None:
    Outputs(tmp_path, 1).check_room()
    with pytest.raises(AnnouncementError, match=f"are free at {tmp_path}"):
        Outputs(tmp_path, 2**62).check_room()
