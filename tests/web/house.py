"""The daemon behind a gateway: real queue, journal and storage; a scripted engine, and nobody who plays."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import httpx2

from daemon.config import Config, CosyVoice3, Web
from daemon.errors import AnnouncementError
from daemon.jobs.announcer import Announcer
from daemon.jobs.fallback import FallbackJournal
from daemon.jobs.job import Utterance
from daemon.jobs.ledger import Ledger
from daemon.jobs.pipeline import Pipeline
from daemon.jobs.queue import JobQueue
from daemon.jobs.reception import Reception
from daemon.jobs.studio import Studio
from daemon.mqtt.controls import Controls
from daemon.mqtt.link import Link
from daemon.mqtt.messages import Event, Result, State
from daemon.mqtt.results import Results
from daemon.mqtt.status import Status
from daemon.mqtt.topics import Topics
from daemon.storage.outputs import Outputs
from daemon.storage.phrases import PhraseCache
from daemon.storage.settings import SettingsStore
from daemon.synthesis.engine import VoiceInfo
from daemon.synthesis.engines import Engines
from daemon.web.feed import Feed
from daemon.web.gateway import gateway
from daemon.web.parts import Parts
from tests.jobs.samples import FakeClock
from tests.mqtt.test_intake import DEFAULTS

TOKEN = "a-token-of-some-length"
HERE = "http://127.0.0.1:7860"
SECOND = bytes(range(256)) * 2


class QuietLink:
    """Takes everything at once; no broker is there."""

    def publish(self, topic: str, payload: bytes, **options: Any) -> "asyncio.Future[None]":
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done


class FakeStudio:
    """Speaks `SECOND` for each word; `@fail` fails before the first sound, `@break` after it."""

    sample_rate_hz = 24000

    def __init__(self) -> None:
        self.asked: list[Utterance] = []
        self.error: AnnouncementError | None = None
        self.free = asyncio.Event()
        self.free.set()
        self.closed = 0

    async def speak(self, utterance: Utterance) -> AsyncGenerator[bytes, None]:
        self.asked.append(utterance)
        try:
            for number, _ in enumerate(utterance.text.split()):
                await self.free.wait()
                if self.error is not None and (number > 0 or "late" not in utterance.text):
                    raise self.error
                yield SECOND
        finally:
            self.closed += 1


class FakeEngines:
    def __init__(self) -> None:
        names = sorted(DEFAULTS.voices)
        self.voices = {
            name: VoiceInfo(name=name, engine="builtin", languages=("en",), gender="f") for name in names
        }


class FakeStatus:
    def state(self) -> State:
        return State(
            status="idle",
            queue_length=0,
            speaking_id=None,
            engine="builtin",
            throttle="normal",
            throttle_reason=None,
            temperature_c=42.0,
            memory_available_bytes=None,
            worker_rss_bytes=0,
            outputs_bytes=0,
            uptime_s=1,
            version="0",
            last=None,
        )


class SilentPipeline:
    def interrupt(self, entry: object, why: object) -> None:
        pass


class SilentAnnouncer:
    async def pause(self) -> None:
        pass

    async def resume(self) -> None:
        pass


class House:
    """A gateway with all that it speaks to."""

    def __init__(self, folder: Path, token: str | None, room: int, **web: Any) -> None:
        clock, self.feed, self.studio = FakeClock(), Feed(), FakeStudio()
        self.outputs = Outputs(folder / "outputs")
        self.outputs.start()
        self.ledger = Ledger(FallbackJournal(folder / "journal.sqlite"), clock)
        self.queue = JobQueue(room, clock)
        link, topics = cast(Link, QuietLink()), Topics("cosyvoice", "test")
        self.results = Results(link, topics, self.ledger, clock, witness=self.feed.tell)
        cache = PhraseCache(folder / "phrases")
        cache.start()
        reception = Reception(
            *(link, self.ledger, self.queue, self.results, lambda: DEFAULTS),
            *(lambda *_: None, lambda: None, cache, clock),
        )
        model = CosyVoice3(model=str(folder / "model"))
        config = Config(web=Web(enabled=True, **web), cosyvoice3=model)
        engines = cast(Engines, FakeEngines())
        controls = Controls(
            *(config, link, topics, self.queue, cast(Pipeline, SilentPipeline())),
            *(cast(Announcer, SilentAnnouncer()), reception, self.results, self.ledger),
            *(SettingsStore(folder / "settings.json"), lambda: engines.voices, clock),
            *(lambda: None, lambda: None),
        )
        self.reception = reception
        self.parts = Parts(
            *(engines, cast(Studio, self.studio), cache, self.outputs, self.queue, self.ledger),
            *(reception, controls, cast(Status, FakeStatus()), self.feed, lambda: DEFAULTS, clock),
        )
        self.app = gateway(config, folder, token, self.parts)

    async def finish_next(self, event: Event = Event.FINISHED, wav_path: str | None = None) -> Result:
        """Ends the next announcement as a pipeline would."""
        entry = await self.queue.next()
        described = self.results.describe(entry.job, event)
        result = Result(
            **{name: getattr(described, name) for name in ("id", "event", "text", "voice", "style", "at")},
            wav_path=wav_path,
        )
        await self.results.final([(entry, result)])
        self.queue.done()
        return result


@asynccontextmanager
async def a_house(
    folder: Path, token: str | None = None, room: int = 10, **web: Any
) -> AsyncIterator[tuple[House, httpx2.AsyncClient]]:
    """A gateway and a client of it, which sends what `curl` sends."""
    house = House(folder, token, room, **web)
    await house.ledger.start()
    reception = asyncio.create_task(house.reception.run())
    transport = httpx2.ASGITransport(house.app, raise_app_exceptions=False)
    try:
        async with httpx2.AsyncClient(transport=transport, base_url=HERE) as client:
            yield house, client
    finally:
        reception.cancel()
        await asyncio.gather(reception, return_exceptions=True)
        await house.ledger.stop()
