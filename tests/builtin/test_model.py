import hashlib
import os
import sys
import time
from pathlib import Path

import pytest

from daemon.synthesis.builtin.model import PIP_LINE, ModelStore
from daemon.synthesis.engine import EngineError

BLOCKS = (b"the first part, ", b"the second part")
WHOLE = b"".join(BLOCKS)
NAMES = ("fake_voice_part_1", "fake_voice_part_2")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelStore:
    """A store whose two parts are installed as small packages."""
    for name, block in zip(NAMES, BLOCKS, strict=True):
        package = tmp_path / "site" / name
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        (package / "part.bin").write_bytes(block)
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    store = ModelStore(tmp_path / "state", NAMES, hashlib.sha256(WHOLE).hexdigest())
    store.folder.mkdir(parents=True)
    return store


def joins(store: ModelStore) -> int:
    """How many parts were read to have the whole file."""
    lines: list[str] = []
    assert store.join(lines.append).read_bytes() == WHOLE
    return len(lines)


def test_the_parts_are_joined_once(store: ModelStore) -> None:
    assert joins(store) == 2
    assert joins(store) == 0


def test_a_flipped_byte_is_noticed_and_the_file_joined_again(store: ModelStore) -> None:
    joins(store)
    store.joined.write_bytes(WHOLE.replace(b"first", b"fIrst"))
    os.utime(store.joined, ns=(1, 1))
    assert joins(store) == 2


def test_a_cut_file_is_joined_again(store: ModelStore) -> None:
    joins(store)
    store.joined.write_bytes(WHOLE[:5])
    assert joins(store) == 2


def test_a_touched_but_whole_file_is_kept(store: ModelStore) -> None:
    joins(store)
    os.utime(store.joined, ns=(1, 1))
    assert joins(store) == 0


def test_an_unreadable_note_means_joining_again(store: ModelStore) -> None:
    joins(store)
    store.joined.with_name(f"{store.joined.name}.json").write_text("[1]")
    assert joins(store) == 2


def test_damaged_parts_are_refused_and_leave_nothing(store: ModelStore, tmp_path: Path) -> None:
    (tmp_path / "site" / NAMES[1] / "part.bin").write_bytes(b"other bytes")
    with pytest.raises(EngineError, match="damaged; type: pip install"):
        store.join(lambda line: None)
    assert list(store.folder.iterdir()) == []


def test_a_missing_part_names_the_line_to_type(tmp_path: Path) -> None:
    store = ModelStore(tmp_path, ("no_such_voice_part",))
    with pytest.raises(EngineError) as caught:
        store.prepare(lambda line: None)
    assert PIP_LINE in str(caught.value)


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file is in the way")
    with pytest.raises(EngineError, match="cannot be stored"):
        ModelStore(tmp_path).prepare(lambda line: None)


def test_what_a_power_cut_left_is_removed(store: ModelStore) -> None:
    old, fresh = store.folder / "old.part", store.folder / "fresh.part"
    old.touch()
    fresh.touch()
    an_hour_ago = time.time() - 3600
    os.utime(old, (an_hour_ago, an_hour_ago))
    with pytest.raises(EngineError):  # these parts are no model: the rewriting refuses them
        store.prepare(lambda line: None)
    assert not old.exists()
    assert fresh.exists()
    assert not store.ready.exists()


def test_a_newer_form_takes_the_place_of_older_ones(
    store: ModelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = [store.folder / "kokoro-v1.0.u8.r0.onnx", store.folder / "kokoro-v1.0.u8.r0.onnx.json"]
    for path in old:
        path.touch()
    monkeypatch.setattr(store, "_rewrite", store.ready.touch)
    store.prepare(lambda line: None)
    assert not any(path.exists() for path in old)
    assert store.joined.exists()
    assert store.ready.exists()
