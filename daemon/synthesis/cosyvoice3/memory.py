"""How fast this machine speaks, remembered from one start of the worker to the next."""

import logging
from pathlib import Path

import msgspec

from cosyvoice.pacing import UNKNOWN_RTF

log = logging.getLogger(__name__)

NEW_SHARE = 0.3  # of the last announcement in the average: one hot minute must not decide
WORTH_WRITING = 0.05  # a relative change; spares the SD card


class _Stored(msgspec.Struct, frozen=True):
    quality: str
    threads: int
    rtf: float


class PaceMemory:
    """The average real-time factor of one preset with one number of threads."""

    def __init__(self, path: Path, quality: str, threads: int) -> None:
        self._path = path
        self._quality = quality
        self._threads = threads
        self._written: float | None = None
        self._rtf: float | None = None

    @property
    def rtf(self) -> float:
        """Seconds of work for a second of speech; infinite while nothing is known."""
        if self._rtf is None:
            self._rtf = self._written = self._read()
        return self._rtf

    def learn(self, rtf: float) -> None:
        """Takes what one more announcement took."""
        known = self.rtf
        self._rtf = rtf if known == UNKNOWN_RTF else known + NEW_SHARE * (rtf - known)
        written = self._written or UNKNOWN_RTF
        if written == UNKNOWN_RTF or abs(self._rtf - written) > WORTH_WRITING * written:
            self._write(self._rtf)

    def _read(self) -> float:
        try:
            stored = msgspec.json.decode(self._path.read_bytes(), type=_Stored)
        except (OSError, msgspec.DecodeError):
            return UNKNOWN_RTF
        same = (stored.quality, stored.threads) == (self._quality, self._threads)
        return stored.rtf if same and stored.rtf > 0 else UNKNOWN_RTF

    def _write(self, rtf: float) -> None:
        temporary = self._path.with_name(f".{self._path.name}.tmp")
        try:
            temporary.write_bytes(msgspec.json.encode(_Stored(self._quality, self._threads, round(rtf, 3))))
            temporary.replace(self._path)
        except OSError as error:
            log.debug("%s cannot be written: %s", self._path, error.strerror)
        self._written = rtf
