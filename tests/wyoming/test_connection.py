"""Clients that stall, leave or do not listen, at a server in this process with a scripted studio."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import pytest
from wyoming.tts import Synthesize

from daemon.config import Config, Wyoming
from daemon.jobs.job import Utterance
from daemon.jobs.studio import Studio
from daemon.mqtt import configured
from daemon.storage.settings import Settings
from daemon.synthesis.builtin.voices import VOICES
from daemon.wyoming import connection
from daemon.wyoming.server import Server
from tests.mqtt.mosquitto import free_port
from tests.synthesis.company import until
from tests.wyoming.client import connected


class FakeStudio:
    """Makes half a second of silence of each text; of `endless`, as much as somebody takes."""

    sample_rate_hz = 24000

    def __init__(self) -> None:
        self.said: list[str] = []
        self.speaking = 0

    async def speak(self, utterance: Utterance) -> AsyncGenerator[bytes, None]:
        self.said.append(utterance.text)
        self.speaking += 1
        try:
            yield bytes(self.sample_rate_hz)
            while utterance.text == "endless":
                await asyncio.sleep(0)
                yield bytes(100_000)
        finally:
            self.speaking -= 1


class Room:
    def __init__(self) -> None:
        self.port = free_port()
        self.studio = FakeStudio()
        self.server = Server(
            Wyoming(enabled=True, port=self.port),
            "test",
            cast(Studio, self.studio),
            lambda: configured.defaults(Config(), Settings(), VOICES),
            lambda: VOICES,
        )


@asynccontextmanager
async def room() -> AsyncIterator[Room]:
    here = Room()
    await here.server.start()
    try:
        yield here
    finally:
        await here.server.stop()
    assert here.studio.speaking == 0


async def test_a_silent_client_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "IDLE_S", 0.1)
    async with room() as here, connected(here.port) as client:
        assert (await client.say("Hello")).duration_s == 0.5
        assert await client.event() is None


async def test_a_stream_that_is_never_ended_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "IDLE_S", 0.1)
    async with room() as here, connected(here.port) as client:
        await client.start_stream(["The light is on. And"])
        while await client.event() is not None:
            pass
        assert here.studio.said == ["The light is on."]


async def test_a_client_that_does_not_take_its_sound_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "SEND_DEADLINE_S", 0.1)
    async with room() as here, connected(here.port) as client:
        await client.send(Synthesize("endless"))
        await until(lambda: here.studio.speaking == 1)
        await until(lambda: here.studio.speaking == 0)


async def test_a_client_that_leaves_is_not_spoken_to() -> None:
    async with room() as here:
        async with connected(here.port) as client:
            await client.send(Synthesize("endless"))
            assert await client.event() is not None
        await until(lambda: here.studio.speaking == 0)


async def test_a_new_stream_ends_the_one_before() -> None:
    async with room() as here, connected(here.port) as client:
        await client.start_stream(["One and"])
        await client.start_stream(["two"])
        await client.end_stream("two")
        answers = [await client.answer(streamed=True) for _ in range(2)]
        assert [answer.error for answer in answers] == [None, None]
        assert here.studio.said == ["One and", "two"]


async def test_sentences_of_one_answer_are_apart() -> None:
    async with room() as here, connected(here.port) as client:
        await client.start_stream(["The light is on. ", "The door is shut. "])
        await client.end_stream("")
        assert (await client.answer(streamed=True)).duration_s == 0.5 + connection.PAUSE_S + 0.5


async def test_stopping_leaves_clients_at_once() -> None:
    async with room() as here, connected(here.port) as client:
        await client.send(Synthesize("endless"))
        await until(lambda: here.studio.speaking == 1)
        await here.server.stop()
        assert here.studio.speaking == 0
