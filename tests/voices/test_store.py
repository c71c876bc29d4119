"""The folder of voices."""

import os
from pathlib import Path

import pytest

from cosyvoice.errors import VoiceError
from cosyvoice.voices.store import VoiceStore
from tests.voices.voice_files import written_voice


@pytest.fixture
def store(tmp_path: Path) -> VoiceStore:
    made = VoiceStore(tmp_path / "state" / "voices")
    made.make_folder()
    return made


def test_voices_are_listed_by_name(store: VoiceStore) -> None:
    for name in ("papa", "妈妈", "mama"):
        written_voice(store.path(name))
    assert [voice.name for voice in store.list().voices] == ["mama", "papa", "妈妈"]


def test_a_folder_that_is_not_there_holds_no_voices(tmp_path: Path) -> None:
    assert VoiceStore(tmp_path / "none").list().voices == ()


def test_a_bad_file_hides_no_good_one(store: VoiceStore) -> None:
    written_voice(store.path("mama"))
    (store.folder / "bad.safetensors").write_bytes(b"nothing")
    (store.folder / "Upper.safetensors").write_bytes(b"nothing")
    (store.folder / "notes.txt").write_text("not a voice")
    (store.folder / ".half.tmp").write_text("left by a power cut")
    listing = store.list()
    assert [voice.name for voice in listing.voices] == ["mama"]
    assert len(listing.problems) == 2


def test_the_folder_is_its_owners_only(store: VoiceStore) -> None:
    store.folder.chmod(0o755)
    store.make_folder()
    assert store.folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_root_adds_belongs_to_the_service(tmp_path: Path) -> None:
    os.chown(tmp_path, 12345, 12346)
    store = VoiceStore(tmp_path / "voices")
    store.make_folder()
    for made in (store.folder, written_voice(store.path("mama"))):
        assert (made.stat().st_uid, made.stat().st_gid) == (12345, 12346)


def test_a_folder_in_the_way_is_told(tmp_path: Path) -> None:
    (tmp_path / "voices").write_text("a file")
    with pytest.raises(VoiceError, match="cannot be used"):
        VoiceStore(tmp_path / "voices").make_folder()
    with pytest.raises(VoiceError, match="cannot be read"):
        VoiceStore(tmp_path / "voices").list()


@pytest.mark.parametrize("name", ["../mama", "/etc/passwd", "a/b", ""])
def test_a_path_is_no_name(store: VoiceStore, name: str) -> None:
    for use in (store.path, store.header, store.remove, store.refuse_taken):
        with pytest.raises(VoiceError, match="cannot be a voice's name"):
            use(name)


def test_a_removed_voice_is_gone(store: VoiceStore) -> None:
    written_voice(store.path("mama"))
    store.remove("mama")
    assert list(store.folder.iterdir()) == []
    with pytest.raises(VoiceError, match="there is no voice 'mama'"):
        store.remove("mama")


def test_a_damaged_voice_can_be_removed(store: VoiceStore) -> None:
    store.path("mama").write_bytes(b"")
    store.remove("mama")
    assert store.list().problems == ()


def test_a_name_is_given_once(store: VoiceStore) -> None:
    store.refuse_taken("mama")
    written_voice(store.path("mama"))
    with pytest.raises(VoiceError, match="there is a voice 'mama' already"):
        store.refuse_taken("Mama")
