"""What systemd hears, over a real datagram socket."""

import contextlib
import logging
import os
import socket
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.sd_notify import STATUS_MAX_BYTES, Notifier


@pytest.fixture(params=["path", "abstract"])
def systemd(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[socket.socket, str]]:
    """A bound socket, and what `NOTIFY_SOCKET` says of it."""
    named = str(tmp_path / "notify") if request.param == "path" else f"@cosyvoiced-test-{uuid.uuid4()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bound:
        bound.bind(named.replace("@", "\0"))
        bound.settimeout(5)
        yield bound, named


def heard(systemd: socket.socket) -> list[str]:
    return systemd.recv(65536).decode().split("\n")


def test_each_call_is_one_datagram(systemd: tuple[socket.socket, str]) -> None:
    bound, named = systemd
    notifier = Notifier.from_environment({"NOTIFY_SOCKET": named})
    notifier.ready("speaks as 厨房")
    assert heard(bound) == ["READY=1", "STATUS=speaks as 厨房"]
    notifier.status("no broker answers")
    assert heard(bound) == ["STATUS=no broker answers"]
    notifier.alive()
    assert heard(bound) == ["WATCHDOG=1"]
    notifier.extend_start(90)
    assert heard(bound) == ["EXTEND_TIMEOUT_USEC=90000000"]
    notifier.stopping()
    assert heard(bound) == ["STOPPING=1"]


def test_a_reload_tells_when_it_began(systemd: tuple[socket.socket, str]) -> None:
    bound, named = systemd
    before = time.monotonic_ns() // 1000
    Notifier.from_environment({"NOTIFY_SOCKET": named}).reloading()
    reloading, when = heard(bound)
    assert reloading == "RELOADING=1"
    name, _, usec = when.partition("=")
    assert name == "MONOTONIC_USEC"
    assert before <= int(usec) <= time.monotonic_ns() // 1000


@pytest.mark.parametrize(
    "text", ["a\nWATCHDOG=trigger", "a\r\nWATCHDOG=trigger", "a\0\x1b\u2028 WATCHDOG=trigger"]
)
def test_a_status_cannot_bring_in_a_field(systemd: tuple[socket.socket, str], text: str) -> None:
    bound, named = systemd
    Notifier.from_environment({"NOTIFY_SOCKET": named}).status(text)
    assert heard(bound) == ["STATUS=a WATCHDOG=trigger"]


@pytest.mark.parametrize("text", ["长" * 2000, "x" * 100_000, "well \udcff"])
def test_a_status_is_valid_utf8_of_bounded_length(systemd: tuple[socket.socket, str], text: str) -> None:
    bound, named = systemd
    Notifier.from_environment({"NOTIFY_SOCKET": named}).ready(text)
    ready, status = heard(bound)
    assert ready == "READY=1"
    assert 0 < len(status.removeprefix("STATUS=").encode()) <= STATUS_MAX_BYTES


def test_child_processes_inherit_nothing() -> None:
    environ = {
        "NOTIFY_SOCKET": "/run/systemd/notify",
        "WATCHDOG_USEC": "60000000",
        "WATCHDOG_PID": str(os.getpid()),
        "HOME": "/",
    }
    assert Notifier.from_environment(environ).watchdog_s == 60.0
    assert environ == {"HOME": "/"}


@pytest.mark.parametrize(
    ("usec", "pid", "watchdog_s"),
    [
        ("60000000", "", 60.0),
        ("1500000", "ours", 1.5),
        ("60000000", "1", None),  # meant for another process
        ("60000000", "x", None),
        ("0", "", None),
        ("-5", "", None),
        ("soon", "", None),
        ("٣", "", None),  # a digit, not an ASCII one
        ("", "", None),
    ],
)
def test_the_watchdog_is_on_only_when_it_is_meant_for_us(
    usec: str, pid: str, watchdog_s: float | None
) -> None:
    environ = {
        "NOTIFY_SOCKET": "/run/systemd/notify",
        "WATCHDOG_USEC": usec,
        "WATCHDOG_PID": str(os.getpid()) if pid == "ours" else pid,
    }
    assert Notifier.from_environment(environ).watchdog_s == watchdog_s


@pytest.mark.parametrize("named", ["", "/", "@", "vsock:2:1234", "relative/path"])
def test_without_a_usable_socket_nothing_happens(named: str) -> None:
    notifier = Notifier.from_environment({"NOTIFY_SOCKET": named, "WATCHDOG_USEC": "60000000"})
    assert notifier.watchdog_s is None
    say_all(notifier)


def test_nothing_happens_outside_of_systemd() -> None:
    say_all(Notifier.from_environment({}))


@pytest.mark.parametrize("name", ["gone", "x" * 200])
def test_a_socket_that_is_not_there_is_only_a_line_for_the_debugger(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "daemon.sd_notify")
    say_all(Notifier.from_environment({"NOTIFY_SOCKET": str(tmp_path / name)}))
    assert [record.levelno for record in caplog.records] == [logging.DEBUG] * 6


def test_a_full_socket_does_not_block(
    systemd: tuple[socket.socket, str], caplog: pytest.LogCaptureFixture
) -> None:
    bound, named = systemd
    caplog.set_level(logging.DEBUG, "daemon.sd_notify")
    notifier = Notifier.from_environment({"NOTIFY_SOCKET": named})
    # The kernel queues net.unix.max_dgram_qlen datagrams, and as many as the receive buffer holds.
    for _ in range(20_000):
        notifier.alive()
        if caplog.records:
            break
    assert "systemd was not told WATCHDOG=1" in caplog.text
    drain(bound)
    notifier.status("heard again")
    assert heard(bound) == ["STATUS=heard again"]


def say_all(notifier: Notifier) -> None:
    notifier.ready("ready")
    notifier.status("well")
    notifier.alive()
    notifier.extend_start(1)
    notifier.reloading()
    notifier.stopping()


def drain(bound: socket.socket) -> None:
    bound.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while bound.recv(4096):
            pass
