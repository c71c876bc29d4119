"""Whatever an id says, a file lies right in its folder."""

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
