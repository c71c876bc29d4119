"""16-bit mono PCM WAV files: written to a temporary name and renamed, so a path is always a whole file.

Everything here blocks on the disk; from the event loop, call it with `asyncio.to_thread`.
"""

import errno
import os
import secrets
import struct
import wave
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from daemon.audio.clip import AudioClip
from daemon.errors import AnnouncementError, Code, CosyvoicedError

SAMPLE_BYTES = 2
PART_SUFFIX = ".part"  # of temporary names, so that pruning knows what a power cut left behind
# RIFF with one 16-byte PCM `fmt ` chunk (Multimedia Programming Interface 1.0, IBM and Microsoft)
_HEADER = struct.Struct("<4sI4s4sIHHIIHH4sI")
_PCM = 1
_UNKNOWN = 2**32 - 1  # a size that ffmpeg, browsers and the like take for "until the end"
# Quota and file size limit mean the same to the user, and a worn SD card turns read-only.
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}


class WavError(CosyvoicedError):
    """The file is not a 16-bit mono PCM WAV file."""


class WavWriter:
    """Writes one file as a context manager: renamed by `finish`, removed when left without it."""

    def __init__(self, path: Path, sample_rate_hz: int, *, fsync: bool = False) -> None:
        self.path = path
        self.sample_rate_hz = sample_rate_hz
        self._fsync = fsync
        self._part = path.with_name(f".{secrets.token_hex(8)}{PART_SUFFIX}")
        self._file: BinaryIO | None = None
        self._pcm_bytes = 0

    def __enter__(self) -> Self:
        """Creates the temporary file. Raises `AnnouncementError` (disk full), `OSError`."""
        try:
            self._file = self._part.open("xb")
            self._file.write(self._header())
        except OSError as error:
            self.discard()
            raise disk_error(error, self.path) from error
        return self

    def write(self, pcm: bytes) -> None:
        """Appends 16-bit little-endian mono PCM. Raises `AnnouncementError` (disk full), `OSError`."""
        try:
            self._open_file.write(pcm)
        except OSError as error:
            self.discard()
            raise disk_error(error, self.path) from error
        self._pcm_bytes += len(pcm)

    def finish(self) -> AudioClip:
        """Gives the whole file its name. Raises `AnnouncementError` (disk full), `OSError`."""
        file = self._open_file
        try:
            file.seek(0)
            file.write(self._header())
            file.flush()
            if self._fsync:
                os.fsync(file.fileno())
            file.close()
            self._part.replace(self.path)
        except OSError as error:
            self.discard()
            raise disk_error(error, self.path) from error
        self._file = None
        seconds = self._pcm_bytes / (SAMPLE_BYTES * self.sample_rate_hz)
        return AudioClip(path=self.path, sample_rate_hz=self.sample_rate_hz, duration_s=seconds)

    def discard(self) -> None:
        """Removes the temporary file; after `finish` it does nothing."""
        if self._file is None:
            return
        try:
            self._file.close()
        except OSError:  # the disk is full: what was not written yet is not wanted any more
            pass
        finally:
            self._file = None
            self._part.unlink(missing_ok=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.discard()

    @property
    def _open_file(self) -> BinaryIO:
        if self._file is None:
            raise ValueError(f"{self.path} is not being written")
        return self._file

    def _header(self) -> bytes:
        byte_rate = self.sample_rate_hz * SAMPLE_BYTES
        return _HEADER.pack(
            *(b"RIFF", _HEADER.size - 8 + self._pcm_bytes, b"WAVE"),
            *(b"fmt ", 16, _PCM, 1, self.sample_rate_hz, byte_rate, SAMPLE_BYTES, 8 * SAMPLE_BYTES),
            *(b"data", self._pcm_bytes),
        )


def stream_header(sample_rate_hz: int) -> bytes:
    """The header of a file whose length is not known yet, as players of streams expect it."""
    byte_rate = sample_rate_hz * SAMPLE_BYTES
    return _HEADER.pack(
        *(b"RIFF", _UNKNOWN, b"WAVE"),
        *(b"fmt ", 16, _PCM, 1, sample_rate_hz, byte_rate, SAMPLE_BYTES, 8 * SAMPLE_BYTES),
        *(b"data", _UNKNOWN),
    )


def open_clip(path: Path) -> AudioClip:
    """What the file at `path` holds. Raises `WavError`, `OSError`."""
    with _reading(path) as file:
        rate_hz = file.getframerate()
        return AudioClip(path=path, sample_rate_hz=rate_hz, duration_s=file.getnframes() / rate_hz)


def read_blocks(path: Path, block_s: float = 0.5) -> Iterator[bytes]:
    """The file's PCM, block by block. Raises `WavError`, `OSError`."""
    with _reading(path) as file:
        frames = max(1, round(block_s * file.getframerate()))
        while pcm := file.readframes(frames):
            yield pcm


def disk_error(error: OSError, path: Path) -> Exception:
    """What to raise for `error` while writing `path`: `disk_full` where there is no room, else itself."""
    if error.errno in _NO_ROOM:
        return AnnouncementError(Code.DISK_FULL, f"{path} cannot be written: {os.strerror(error.errno)}")
    return error


def _reading(path: Path) -> wave.Wave_read:
    try:
        file = wave.open(str(path), "rb")  # noqa: SIM115 - the callers' `with` closes it
    except (wave.Error, EOFError, RuntimeError) as error:  # the last at sizes that point outside the file
        raise WavError(f"{path} is not a WAV file: {error}") from error
    if (file.getnchannels(), file.getsampwidth()) != (1, SAMPLE_BYTES):
        file.close()
        raise WavError(f"{path} is not 16-bit mono")
    if file.getframerate() == 0:
        file.close()
        raise WavError(f"{path} has no sample rate")
    return file
