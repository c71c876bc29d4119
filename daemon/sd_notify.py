"""Tells systemd how the daemon is: ready, alive, reloading, stopping. Without systemd it tells nobody."""

import logging
import os
import socket
import time
from collections.abc import MutableMapping

log = logging.getLogger(__name__)

# systemd drops a whole datagram of over 4096 bytes (its NOTIFY_BUFFER_MAX); the status is the only long part.
STATUS_MAX_BYTES = 1000


class Notifier:
    """Sends the datagrams of sd_notify(3); a call never blocks and never raises."""

    def __init__(self, address: bytes | None = None, watchdog_s: float | None = None) -> None:
        self._address = address
        self._watchdog_s = watchdog_s

    @classmethod
    def from_environment(cls, environ: MutableMapping[str, str]) -> "Notifier":
        """Reads what systemd has set and removes it, since the child processes are not to answer for us."""
        address = _address(environ.pop("NOTIFY_SOCKET", ""))
        usec, pid = environ.pop("WATCHDOG_USEC", ""), environ.pop("WATCHDOG_PID", "")
        # As sd_watchdog_enabled(3): without a process id, the watchdog is for whoever reads it.
        is_watched = address is not None and pid in ("", str(os.getpid()))
        return cls(address, _seconds(usec) if is_watched else None)

    @property
    def watchdog_s(self) -> float | None:
        """So often, at the least, `alive` must be called; systemd advises twice as often. None: never."""
        return self._watchdog_s

    def ready(self, status: str) -> None:
        """The start, or the reload, is done."""
        self._send(f"READY=1\nSTATUS={_one_line(status)}")

    def reloading(self) -> None:
        """The configuration is read anew; `ready` must follow."""
        self._send(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self) -> None:
        self._send("STOPPING=1")

    def status(self, text: str) -> None:
        """What `systemctl status` shows, in one line."""
        self._send(f"STATUS={_one_line(text)}")

    def alive(self) -> None:
        """Feeds the watchdog."""
        self._send("WATCHDOG=1")

    def extend_start(self, seconds: float) -> None:
        """Asks for so much more time, from now on, before the start counts as failed."""
        self._send(f"EXTEND_TIMEOUT_USEC={max(1, round(seconds * 1e6))}")

    def _send(self, message: str) -> None:
        if self._address is None:
            return
        try:
            # A socket for each message: nothing to close, and a systemd that was replaced is found again.
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.setblocking(False)
                sender.sendto(message.encode(), self._address)
        except OSError as error:
            log.debug("systemd was not told %s: %s", message.partition("\n")[0], error)


def _address(named: str) -> bytes | None:
    """The socket's address: a path, or behind an `@` a name in the abstract namespace."""
    address = os.fsencode(named)
    if len(address) < 2 or address[:1] not in (b"/", b"@"):
        if address:
            log.debug("NOTIFY_SOCKET is no socket that can be used: %r", named)
        return None
    return b"\0" + address[1:] if address[:1] == b"@" else address


def _seconds(usec: str) -> float | None:
    """`WATCHDOG_USEC` in seconds."""
    return int(usec) / 1e6 if usec.isascii() and usec.isdigit() and int(usec) > 0 else None


def _one_line(text: str) -> str:
    """Without anything that systemd would read as another field, or not take as text."""
    shown = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return shown.encode(errors="replace")[:STATUS_MAX_BYTES].decode(errors="ignore")
