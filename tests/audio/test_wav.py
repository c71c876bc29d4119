import errno
import resource
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from daemon.audio.wav import WavError, WavWriter, disk_error, open_clip, read_blocks
from daemon.errors import AnnouncementError, Code

PCM = bytes(range(256)) * 100


@contextmanager
def _file_size_limit(limit_bytes: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("fsync", [False, True])
def test_a_finished_file_is_whole_and_readable_by_others(tmp_path: Path, fsync: bool) -> None:
    path = tmp_path / "a.wav"
    with WavWriter(path, 24000, fsync=fsync) as writer:
        writer.write(PCM[:1000])
        writer.write(PCM[1000:])
        clip = writer.finish()
    with wave.open(str(path)) as file:
        assert file.getparams()[:4] == (1, 2, 24000, len(PCM) // 2)
        assert file.readframes(len(PCM)) == PCM
    assert clip == open_clip(path)
    assert clip.duration_s == pytest.approx(len(PCM) / 48000)
    assert list(tmp_path.iterdir()) == [path]


def test_the_name_appears_only_when_the_file_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    with WavWriter(path, 24000) as writer:
        writer.write(PCM)
        assert not path.exists()
        (part,) = tmp_path.iterdir()
        assert part.name.startswith(".")
        writer.finish()
    assert path.exists()


def test_a_file_left_unfinished_leaves_nothing(tmp_path: Path) -> None:
    with WavWriter(tmp_path / "a.wav", 24000) as writer:
        writer.write(PCM)
    assert list(tmp_path.iterdir()) == []


def test_an_earlier_file_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(b"earlier")
    with WavWriter(path, 24000) as writer:
        writer.write(PCM)
        writer.discard()
    assert path.read_bytes() == b"earlier"


@pytest.mark.parametrize("count", [1, 2000])
def test_a_disk_without_room_ends_in_disk_full_and_leaves_nothing(tmp_path: Path, count: int) -> None:
    def render() -> None:
        with WavWriter(tmp_path / "a.wav", 24000) as writer:
            for _ in range(count):  # once it shows in `write`, once in `finish`
                writer.write(PCM[:1000])
            writer.finish()

    with _file_size_limit(500), pytest.raises(AnnouncementError) as raised:
        render()
    assert raised.value.code is Code.DISK_FULL
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS])
def test_no_room_has_one_code(number: int) -> None:
    error = disk_error(OSError(number, "no"), Path("a.wav"))
    assert isinstance(error, AnnouncementError)
    assert error.code is Code.DISK_FULL


def test_a_missing_folder_stays_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), WavWriter(tmp_path / "no" / "a.wav", 24000):
        pass


def test_blocks_joined_are_the_file(tmp_path: Path) -> None:
    with WavWriter(tmp_path / "a.wav", 24000) as writer:
        writer.write(PCM)
        clip = writer.finish()
    blocks = list(read_blocks(clip.path, block_s=0.1))
    assert b"".join(blocks) == PCM
    assert {len(block) for block in blocks[:-1]} == {4800}


def test_what_is_no_such_wav_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    for content in (b"", b"RIFFxxxx", b"nonsense" * 20):
        path.write_bytes(content)
        with pytest.raises(WavError):
            open_clip(path)
    with wave.open(str(path), "wb") as file:
        file.setparams((2, 2, 24000, 0, "NONE", ""))
        file.writeframes(PCM)
    with pytest.raises(WavError, match="not 16-bit mono"):
        list(read_blocks(path))
