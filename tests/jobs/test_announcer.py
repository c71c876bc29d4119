"""What was heard is filed, whoever cuts in."""

import asyncio
import shutil
import threading
from pathlib import Path
from typing import cast

import pytest

from daemon.audio.speaker import Speaker
from daemon.audio.wav import WavWriter
from daemon.jobs.announcer import Announcer
from daemon.jobs.fallback import FallbackJournal
from daemon.jobs.journal import Entry
from daemon.jobs.ledger import Ledger
from daemon.jobs.queue import JobQueue
from daemon.mqtt.link import Link
from daemon.mqtt.results import Results
from daemon.mqtt.topics import Topics
from daemon.storage import phrases
from daemon.storage.outputs import Outputs
from daemon.storage.phrases import Phrase, PhraseCache
from daemon.storage.prune import scan
from daemon.storage.settings import Settings
from daemon.synthesis import facts
from daemon.synthesis.engines import Engines
from daemon.synthesis.supervisor import Supervisor
from daemon.synthesis.timings import Timings
from tests.fakes.link import FakeLink
from tests.jobs.samples import FakeClock, a_job
from tests.synthesis.company import fake_options

VOICE = "heart"
RATE_HZ = 24000


async def test_a_file_is_finished_although_something_cuts_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, engine = FakeClock(), facts.builtin()
    ledger = Ledger(FallbackJournal(tmp_path / "journal.sqlite"), clock)
    results = Results(cast(Link, FakeLink()), Topics("cosyvoice", "test"), ledger, clock)
    outputs, cache = Outputs(tmp_path / "outputs"), PhraseCache(tmp_path / "phrases")
    outputs.start()
    cache.start()
    job = a_job(clock, voice=VOICE, output="file")
    key = phrases.key(job.synthesis_request(VOICE), engine.version_of(VOICE))
    with WavWriter(cache.wav(key), RATE_HZ) as writer:
        writer.write(bytes(2 * RATE_HZ))
        cache.describe(
            key, Phrase(engine="builtin", voice=VOICE, sample_rate_hz=RATE_HZ, duration_s=1.0, degraded=())
        )
        writer.finish()
    copying, go_on = threading.Event(), threading.Event()

    def slow_copy(source: Path, target: Path) -> None:
        copying.set()
        go_on.wait(10)
        shutil.copyfile(source, target)

    monkeypatch.setattr(phrases, "copy", slow_copy)
    announcer = Announcer(
        JobQueue(1, clock),
        results,
        Engines((engine,), {engine.name: Supervisor(engine.name, fake_options(tmp_path), Timings())}),
        Speaker("none"),
        outputs,
        cache,
        Settings,
        100,
        clock,
    )
    making = asyncio.create_task(announcer.make(Entry(1, job)))
    assert await asyncio.to_thread(copying.wait, 10)
    making.cancel()
    await asyncio.sleep(0.05)
    go_on.set()
    result = await making
    assert result.event == "finished"
    assert [result.wav_path] == [str(stored.path) for stored in scan(outputs.folder)]
