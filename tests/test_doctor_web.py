"""`cosyvoiced doctor` says whether the page can be had."""

import asyncio
import socket
from pathlib import Path

import pytest

from daemon.commands import doctor_web
from daemon.config import Config, Web
from daemon.web import facts
from tests.mqtt.mosquitto import free_port


def levels(port: int) -> list[tuple[str, str]]:
    config = Config(web=Web(enabled=True, port=port))
    return [(finding.level, finding.what) for finding in doctor_web.examine(config)]


def test_nothing_is_said_of_what_is_off() -> None:
    assert list(doctor_web.examine(Config())) == []


def test_a_missing_library_is_told_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    (finding,) = doctor_web.examine(Config(web=Web(enabled=True)))
    assert (finding.level, finding.what) == ("problem", "starlette, uvicorn must be installed")
    assert finding.do == facts.INSTALL


def test_a_free_port_is_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    port = free_port()
    assert levels(port) == [("ok", f"none runs at 127.0.0.1:{port}; `run` starts it")]


def test_a_port_that_something_else_has_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    monkeypatch.setattr(doctor_web, "DEADLINE_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        port = mute.getsockname()[1]
        assert levels(port) == [("problem", f"127.0.0.1:{port} is taken by something else")]


@pytest.mark.parametrize("token", [None, "a-token-of-some-length"])
async def test_a_gateway_is_known_with_and_without_a_token(tmp_path: Path, token: str | None) -> None:
    pytest.importorskip("starlette")
    from daemon.web.server import Server
    from tests.web.house import a_house

    port = free_port()
    async with a_house(tmp_path, token) as (house, _):
        server = Server(house.app, "127.0.0.1", port)
        await server.start()
        try:
            found = await asyncio.to_thread(levels, port)
        finally:
            await server.stop()
    assert found == [("ok", f"the page is at http://127.0.0.1:{port}/")]
