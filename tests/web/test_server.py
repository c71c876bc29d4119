"""The server itself: its port, its deadlines, its end."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from daemon.errors import AnnouncementError, Code
from daemon.web import protocol
from daemon.web.server import Server, WebError
from tests.mqtt.mosquitto import free_port
from tests.synthesis.company import until
from tests.web.house import House, a_house

HEAD = b"GET /cosyvoice/preset HTTP/1.1\r\nHost: localhost\r\n"
DEADLINE_S = 10.0


@asynccontextmanager
async def a_server(folder: Path) -> AsyncIterator[tuple[House, int]]:
    port = free_port()
    async with a_house(folder) as (house, _):
        server = Server(house.app, "127.0.0.1", port)
        await server.start()
        try:
            yield house, port
        finally:
            house.feed.close()
            async with asyncio.timeout(DEADLINE_S):
                await server.stop()


async def answered(port: int, sent: bytes) -> bytes:
    """All that comes until the server closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(sent)
        async with asyncio.timeout(DEADLINE_S):
            return await reader.read()
    finally:
        writer.close()


async def test_it_answers_at_its_port_and_says_nothing_of_itself(tmp_path: Path) -> None:
    async with a_server(tmp_path) as (_, port):
        answer = await answered(port, HEAD + b"Connection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"server:" not in answer.lower().partition(b"\r\n\r\n")[0]


@pytest.mark.parametrize("sent", [b"", HEAD])
async def test_who_says_nothing_or_half_of_it_is_sent_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(protocol, "HEAD_DEADLINE_S", 0.2)
    async with a_server(tmp_path) as (_, port):
        with contextlib.suppress(ConnectionResetError):
            assert await answered(port, sent) == b""


async def test_what_is_no_http_is_refused(tmp_path: Path) -> None:
    async with a_server(tmp_path) as (_, port):
        assert (await answered(port, b"\x16\x03\x01 hello\r\n\r\n")).startswith(b"HTTP/1.1 400")


async def test_a_client_that_leaves_ends_its_speech(tmp_path: Path) -> None:
    async with a_server(tmp_path) as (house, port):
        house.studio.free.clear()
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /cosyvoice/generate?text=hi HTTP/1.1\r\nHost: localhost\r\n\r\n")
        async with asyncio.timeout(DEADLINE_S):
            await until(lambda: bool(house.studio.asked))
            writer.close()
            await until(lambda: house.studio.closed == 1)


async def test_a_speech_that_breaks_off_is_cut_and_not_ended(tmp_path: Path) -> None:
    async with a_server(tmp_path) as (house, port):
        house.studio.error = AnnouncementError(Code.ENGINE_FAILED, "gone")
        asked = b"GET /cosyvoice/generate?text=late+failure HTTP/1.1\r\nHost: localhost\r\n\r\n"
        answer = await answered(port, asked)
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert not answer.endswith(b"0\r\n\r\n")


async def test_it_ends_although_a_page_listens(tmp_path: Path) -> None:
    async with a_server(tmp_path) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        async with asyncio.timeout(DEADLINE_S):
            await reader.readuntil(b"event: state")
    async with asyncio.timeout(DEADLINE_S):
        assert (await reader.read()).endswith(b"0\r\n\r\n")
    writer.close()


async def test_a_port_that_is_taken_is_one_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        async with a_house(tmp_path) as (house, _):
            with pytest.raises(WebError, match=f"127.0.0.1:{port} is taken; set web.port"):
                await Server(house.app, "127.0.0.1", port).start()
