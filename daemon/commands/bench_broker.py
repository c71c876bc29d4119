"""A broker for the length of a benchmark: Mosquitto where it is installed, else the embedded one."""

import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from daemon.errors import CosyvoicedError

START_DEADLINE_S = 20.0


@contextmanager
def private_broker() -> Iterator[tuple[int, str]]:
    """Its port on the loopback address, and its name. Raises `CosyvoicedError`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = shutil.which("mosquitto", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    with tempfile.TemporaryDirectory() as folder:
        if program is None:
            command = [sys.executable, "-m", "daemon.mqtt.broker", "--port", str(port)]
        else:
            config = Path(folder) / "mosquitto.conf"
            lines = (f"listener {port} 127.0.0.1", "allow_anonymous true", "max_queued_messages 0")
            config.write_text("\n".join((*lines, "set_tcp_nodelay true", "")))
            command = [program, "-c", str(config)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as broker:
            try:
                _wait_for(port)
                yield port, "mosquitto" if program else "embedded"
            finally:
                broker.terminate()


def _wait_for(port: int) -> None:
    ends_s = time.monotonic() + START_DEADLINE_S
    while time.monotonic() < ends_s:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise CosyvoicedError("no broker could be started for the benchmark")
