"""When the heavy engine cannot be had, the built-in one speaks in its place, and the result says so."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import cast

import pytest

from daemon.errors import AnnouncementError, Code
from daemon.jobs.rendering import Rendering
from daemon.storage.phrases import PhraseCache
from daemon.synthesis.engine import SynthesisRequest, VoiceInfo
from daemon.synthesis.engines import Engines
from daemon.synthesis.facts import EngineFacts, routes
from daemon.synthesis.protocol import Speech
from daemon.synthesis.slot import EngineUnavailable
from daemon.synthesis.supervisor import State, Supervisor

NEEDED_BYTES = 1000


class FakeSupervisor:
    """Says its own name, or fails as told, after `heard` pieces."""

    def __init__(self, name: str, error: AnnouncementError | None = None, heard: int = 0) -> None:
        self.name = name
        self.error = error
        self.heard = heard
        self.state = State.STOPPED
        self.pid: int | None = None
        self.asked: list[str] = []

    async def synthesize(
        self, request: SynthesisRequest, gentle: bool = False
    ) -> AsyncGenerator[Speech, None]:
        self.asked.append(request.voice)
        if self.error is not None:
            for _ in range(self.heard):
                yield Speech(1, b"ab")
            raise self.error
        yield Speech(1, self.name.encode())


def facts(name: str, voice: str, memory_bytes: int = 0) -> EngineFacts:
    info = VoiceInfo(name=voice, engine=name, languages=("en",), gender="f")
    return EngineFacts(name, "1", {voice: info}, lambda *_: (voice, ()), memory_bytes=memory_bytes)


HEAVY, LIGHT = facts("heavy", "mama", NEEDED_BYTES), facts("light", "heart")


class Case:
    """Two engines, of which the heavy one is scripted."""

    def __init__(self, folder: Path, heavy: FakeSupervisor, spare_bytes: int | None = None) -> None:
        self.heavy = heavy
        self.light = FakeSupervisor("lght")
        self.cache = PhraseCache(folder)
        self.cache.start()
        self.spare_bytes = spare_bytes
        supervisors = {"heavy": cast(Supervisor, heavy), "light": cast(Supervisor, self.light)}
        self.engines = Engines((HEAVY, LIGHT), supervisors, lambda: self.spare_bytes)

    async def render(self) -> tuple[bytes, Rendering]:
        rendering = Rendering(
            lambda voice: SynthesisRequest(text="hello", language="en", voice=voice),
            routes("mama", "en", "hello", (HEAVY, LIGHT)),
            self.engines,
            self.cache,
        )
        return b"".join([pcm async for pcm in rendering.pieces()]), rendering


async def test_the_engine_asked_for_speaks(tmp_path: Path) -> None:
    case = Case(tmp_path, FakeSupervisor("heav"))
    pcm, rendering = await case.render()
    assert (pcm, rendering.engine, rendering.voice, rendering.degraded) == (b"heav", "heavy", "mama", ())


@pytest.mark.parametrize("code", [Code.ENGINE_FAILED, Code.ENGINE_TIMEOUT, Code.THROTTLED])
async def test_one_that_cannot_be_had_hands_over(tmp_path: Path, code: Code) -> None:
    case = Case(tmp_path, FakeSupervisor("heav", EngineUnavailable(code, "gone")))
    pcm, rendering = await case.render()
    assert (pcm, rendering.engine, rendering.voice) == (b"lght", "light", "heart")
    assert rendering.degraded == ("voice",)


async def test_what_was_heard_is_not_begun_again_in_another_voice(tmp_path: Path) -> None:
    case = Case(tmp_path, FakeSupervisor("heav", EngineUnavailable(Code.ENGINE_FAILED, "gone"), heard=1))
    with pytest.raises(EngineUnavailable):
        await case.render()
    assert case.light.asked == []


async def test_a_text_that_the_engine_cannot_say_fails(tmp_path: Path) -> None:
    case = Case(tmp_path, FakeSupervisor("heav", AnnouncementError(Code.ENGINE_FAILED, "no such sound")))
    with pytest.raises(AnnouncementError, match="no such sound"):
        await case.render()
    assert case.light.asked == []


async def test_without_memory_it_is_not_even_loaded(tmp_path: Path) -> None:
    case = Case(tmp_path, FakeSupervisor("heav"), spare_bytes=NEEDED_BYTES - 1)
    assert (await case.render())[0] == b"lght"
    assert case.heavy.asked == []


async def test_the_light_engine_is_never_refused_for_memory(tmp_path: Path) -> None:
    case = Case(tmp_path, FakeSupervisor("heav"), spare_bytes=-1)
    assert case.engines.refusal(LIGHT) is None


async def test_one_that_is_loaded_needs_no_more_memory(tmp_path: Path) -> None:
    case = Case(tmp_path, FakeSupervisor("heav"), spare_bytes=NEEDED_BYTES - 1)
    case.heavy.pid = 1
    assert (await case.render())[0] == b"heav"


async def test_a_phrase_said_before_needs_no_engine(tmp_path: Path) -> None:
    case = Case(tmp_path, FakeSupervisor("heav"))
    await case.render()
    case.heavy.state = State.FAILED
    pcm, rendering = await case.render()
    assert (pcm, rendering.cached, rendering.degraded) == (b"heav", True, ())
    assert case.heavy.asked == ["mama"]
