"""A real Mosquitto on a free loopback port, for tests of anything that talks to a broker."""

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

START_DEADLINE_S = 10.0
STOP_DEADLINE_S = 10.0


def executable(name: str) -> str:
    """Path of one of Mosquitto's programs; Debian keeps the broker in /usr/sbin, off a user's PATH."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    if found is None:
        raise FileNotFoundError(f"{name} is not installed; on Debian: apt install mosquitto")
    return found


def free_port() -> int:
    """One that stays free: no outgoing connection is given it, nor another process of pytest-xdist."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    while True:
        port = 12_000 + 4_000 * (worker % 5) + secrets.randbelow(4_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Mosquitto:
    """One broker in `folder`; `config` are lines for its configuration, before and after the listener's.

    The port stays the same over stops and starts. Sessions and retained messages live in memory, and
    are lost by `stop` unless `config` turns persistence on (see `PERSISTENT`).
    """

    PERSISTENT = ("persistence true", "autosave_interval 1", "autosave_on_changes true")

    def __init__(self, folder: Path, config: Sequence[str] = ("allow_anonymous true",)) -> None:
        self.host = "127.0.0.1"
        self.port = free_port()
        self.folder = folder
        self.config = tuple(config)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> str:
        return (self.folder / "mosquitto.log").read_text(errors="replace")

    def start(self) -> None:
        """Starts the broker and waits until it listens."""
        config = self.folder / "mosquitto.conf"
        # Without `user root` Mosquitto gives up root's rights and then cannot write into the test's folder.
        lines = ("user root", f"persistence_location {self.folder}/", f"listener {self.port} {self.host}")
        config.write_text("\n".join((*lines, *self.config)) + "\n")
        with (self.folder / "mosquitto.log").open("ab") as log:
            self._process = subprocess.Popen(
                [executable("mosquitto"), "-v", "-c", str(config)], stdout=log, stderr=log
            )
        give_up_at_s = time.monotonic() + START_DEADLINE_S
        while not self._listens():
            if self._process.poll() is not None or time.monotonic() > give_up_at_s:
                self.stop()
                raise RuntimeError(f"Mosquitto did not start:\n{self.log}")
            time.sleep(0.02)

    def stop(self) -> None:
        """Ends the broker in good order."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Ends the broker as a power cut would."""
        self._end(signal.SIGKILL)

    def send_signal(self, number: signal.Signals) -> None:
        """Stops it in its tracks, for example."""
        if self._process is not None:
            self._process.send_signal(number)

    def restart(self) -> None:
        self.stop()
        self.start()

    def _end(self, number: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(number)
        try:
            self._process.wait(STOP_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _listens(self) -> bool:
        try:
            socket.create_connection((self.host, self.port), timeout=1.0).close()
        except OSError:
            return False
        return True
