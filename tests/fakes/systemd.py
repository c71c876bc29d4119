"""systemd's end of the notification socket: a real datagram socket that remembers what it was told."""

import socket
from pathlib import Path
from types import TracebackType
from typing import Self


class Systemd:
    """A context manager; `env` makes a daemon talk to it."""

    def __init__(self, folder: Path, watchdog_s: float) -> None:
        self._path = folder / "notify"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._told: list[str] = []
        self.watchdog_s = watchdog_s

    def __enter__(self) -> Self:
        self._socket.bind(str(self._path))
        self._socket.setblocking(False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    @property
    def address(self) -> bytes:
        return bytes(self._path)

    @property
    def env(self) -> dict[str, str]:
        return {"NOTIFY_SOCKET": str(self._path), "WATCHDOG_USEC": str(int(self.watchdog_s * 1e6))}

    def told(self) -> list[str]:
        """All fields of all messages so far, in order."""
        while True:
            try:
                self._told += self._socket.recv(4096).decode().splitlines()
            except BlockingIOError:
                return list(self._told)

    def forget(self) -> None:
        self.told()
        self._told.clear()
