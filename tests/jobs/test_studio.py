"""Speech without queue and speaker: from the scripted engine in a real worker."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest

from daemon.errors import AnnouncementError, Code
from daemon.jobs.job import Utterance
from daemon.jobs.studio import Studio
from daemon.storage.phrases import PhraseCache
from daemon.synthesis.engine import VoiceInfo
from daemon.synthesis.engines import Engines
from daemon.synthesis.facts import EngineFacts
from daemon.synthesis.supervisor import State, Supervisor
from tests.fakes.engine import spoken
from tests.synthesis.company import supervised, until

VOICE = VoiceInfo(name="fake", engine="fake", languages=("en",), gender="f")
FAKE = EngineFacts("fake", "1", {"fake": VOICE}, lambda *_: ("fake", ()))
HOT = AnnouncementError(Code.THROTTLED, "the device is critical")

pytestmark = pytest.mark.usefixtures("no_process_left")


def said(text: str) -> Utterance:
    return Utterance(text=text, language="en", style="neutral", voice=None, seed=0, speed=1.0)


async def heard(studio: Studio, text: str) -> bytes:
    return b"".join([pcm async for pcm in studio.speak(said(text))])


class Room:
    def __init__(self, folder: Path, supervisor: Supervisor) -> None:
        self.supervisor = supervisor
        self.cache = PhraseCache(folder / "phrases")
        self.cache.start()
        self.refusal: AnnouncementError | None = None
        self.studio = Studio(Engines((FAKE,), {"fake": supervisor}), self.cache, lambda _: self.refusal)


@asynccontextmanager
async def room(folder: Path) -> AsyncIterator[Room]:
    async with supervised(folder) as supervisor:
        yield Room(folder, supervisor)


async def test_it_speaks_and_keeps_the_phrase(tmp_path: Path) -> None:
    async with room(tmp_path) as here:
        assert await heard(here.studio, "one two") == spoken("one two")
        assert len(list(here.cache.folder.glob("*.wav"))) == 1
        assert here.cache.held == set()


async def test_a_hot_device_speaks_only_what_it_knows(tmp_path: Path) -> None:
    async with room(tmp_path) as here:
        await heard(here.studio, "one")
        here.refusal = HOT
        assert await heard(here.studio, "one") == spoken("one")
        with pytest.raises(AnnouncementError) as error:
            await heard(here.studio, "two")
        assert error.value.code == Code.THROTTLED


async def test_a_slow_listener_holds_up_nobody(tmp_path: Path) -> None:
    async with room(tmp_path) as here, aclosing(here.studio.speak(said("one two three"))) as slow:
        assert await anext(slow) == spoken("one")
        assert await heard(here.studio, "four") == spoken("four")
        assert b"".join([pcm async for pcm in slow]) == spoken("two three")


async def test_whoever_stops_listening_frees_the_engine(tmp_path: Path) -> None:
    async with room(tmp_path) as here:
        async with aclosing(here.studio.speak(said("one @sleep=0.2 " * 20))) as speech:
            await anext(speech)
        await until(lambda: here.supervisor.state == State.READY)
        assert list(here.cache.folder.glob("*.wav")) == []
        assert here.cache.held == set()


async def test_whoever_stops_waiting_loses_only_his_turn(tmp_path: Path) -> None:
    async with room(tmp_path) as here, aclosing(here.studio.speak(said("one @sleep=0.5 two"))) as first:
        await anext(first)
        waiting = asyncio.create_task(heard(here.studio, "three"))
        await asyncio.sleep(0.05)
        waiting.cancel()
        await asyncio.wait({waiting})
        assert b"".join([pcm async for pcm in first]) == spoken("two")


async def test_what_the_engine_cannot_say_is_told(tmp_path: Path) -> None:
    async with room(tmp_path) as here:
        with pytest.raises(AnnouncementError, match="made no sound"):
            await heard(here.studio, "@degraded")
