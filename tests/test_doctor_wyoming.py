"""`cosyvoiced doctor` says whether the Wyoming server can be had."""

import socket
from collections.abc import Iterator

import pytest

from daemon.commands import doctor_wyoming
from daemon.config import Config, Wyoming
from daemon.wyoming import facts
from tests.mqtt.mosquitto import free_port


@pytest.fixture
def mute() -> Iterator[int]:
    """The port of something that listens and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def levels(**options: object) -> list[tuple[str, str]]:
    config = Config(wyoming=Wyoming(**{"enabled": True, **options}))  # type: ignore[arg-type] # by name
    return [(finding.level, finding.what) for finding in doctor_wyoming.examine(config)]


def test_nothing_is_said_of_what_is_off() -> None:
    assert levels(enabled=False) == []


def test_a_free_port_is_well() -> None:
    port = free_port()
    assert levels(port=port) == [("ok", f"none runs at 127.0.0.1:{port}; `run` starts it")]


def test_a_port_that_something_else_has_is_a_problem(mute: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_wyoming, "DEADLINE_S", 0.2)
    assert levels(port=mute) == [("problem", f"127.0.0.1:{mute} is taken by something that does not speak")]


def test_zeroconf_for_this_machine_alone_is_noted() -> None:
    assert [level for level, _ in levels(port=free_port(), zeroconf=True)] == ["ok", "note"]


def test_a_missing_library_is_told_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    (finding,) = doctor_wyoming.examine(Config(wyoming=Wyoming(enabled=True, zeroconf=True)))
    assert (finding.level, finding.what) == ("problem", "wyoming, zeroconf must be installed")
    assert finding.do == facts.INSTALL
