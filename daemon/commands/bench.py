"""`cosyvoiced bench`: speed and memory of the whole path on this machine.

It runs a daemon of its own, with its own state folder, on a broker of its own, and plays on ALSA's
null device, so that neither a speaker nor a running daemon is disturbed.
"""

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from daemon.commands.bench_broker import private_broker
from daemon.commands.bench_intake import accepted_per_second
from daemon.commands.measures import Measure, report
from daemon.errors import CosyvoicedError
from daemon.mqtt.caller import Caller
from daemon.mqtt.messages import Event, Result
from daemon.mqtt.settings import LinkSettings
from daemon.mqtt.topics import Topics

SAY_DEADLINE_S = 60.0
START_DEADLINE_S = 180.0
IDLE_UNLOAD_S = 6.0
SETTLE_S = 2.0

TOPICS = Topics("bench", "machine")

# Eight words, and fifteen characters: no two alike, so that none comes from the cache.
_PLACES_EN = (
    "kitchen",
    "garage",
    "cellar",
    "garden",
    "office",
    "bathroom",
    "hallway",
    "workshop",
    "attic",
    "nursery",
)
_PLACES_ZH = ("厨房", "车库", "花园", "书房", "客厅", "阳台", "卧室", "仓库", "教室", "走廊")

_ASKED_ZH = ("请记得", "请马上")
MAX_RUNS = 19  # two times ten sentences, one of them to warm up

# ALSA's null device takes samples at once; the player paces itself by its own clock then.
_ALSA = "</usr/share/alsa/alsa.conf>\npcm.!default { type null }\nctl.!default { type hw card 0 }\n"


def bench(runs: int, as_json: bool) -> int:
    """Measures and prints; 0 however fast the machine is. Raises `CosyvoicedError`."""
    runs = min(max(runs, 1), MAX_RUNS)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    with (
        tempfile.TemporaryDirectory(prefix="cosyvoiced-bench-") as folder,
        private_broker() as (port, broker),
    ):
        report(_measure(Path(folder), port, runs), as_json=as_json, broker=broker)
    return 0


def _measure(folder: Path, port: int, runs: int) -> Iterator[Measure]:
    started_s = time.monotonic()
    with _daemon(folder, port) as daemon:
        settings = LinkSettings(host="127.0.0.1", port=port, client_id="bench")
        with Caller(settings, TOPICS) as caller:
            _wait_until_online(caller, daemon)
            yield Measure(what="first start to online", value=_since(started_s), unit="s")
            yield from _speech(caller, daemon, runs)
        yield from _idle(daemon)
        rate = accepted_per_second(settings, TOPICS)
        yield Measure(
            what="intake of valid messages, journalled", value=round(rate), unit="1/s", at_least=500
        )
        time.sleep(SETTLE_S)
        yield Measure(what="daemon process after that burst (RSS)", value=_mib(_rss(daemon)), unit="MiB")
    started_s = time.monotonic()
    with _daemon(folder, port) as daemon, Caller(settings, TOPICS) as caller:
        _wait_until_online(caller, daemon)
        yield Measure(what="second start to online", value=_since(started_s), unit="s", at_most=2.0)


def _speech(caller: Caller, daemon: psutil.Process, runs: int) -> Iterator[Measure]:
    """Latency and RTF of the built-in engine, warm."""

    def english(number: int) -> str:
        return f"The {_PLACES_EN[number % 10]} window is still open, number {number + 1}"

    def mandarin(number: int) -> str:
        return f"{_PLACES_ZH[number % 10]}的窗户还开着{_ASKED_ZH[number // 10]}去关好"

    for name, text_of, latency_s, rtf in (
        ("English, 8 words", english, 0.15, 0.02),
        ("Mandarin, 15 characters", mandarin, 0.7, 0.2),
    ):
        _say(caller, text_of(MAX_RUNS))
        spoken = [_say(caller, text_of(number)) for number in range(runs)]
        first_s = statistics.median(first for first, _ in spoken)
        yield Measure(what=f"first sample: {name}", value=round(first_s, 3), unit="s", at_most=latency_s)
        # Another seed is another phrase; without the playing between them the engine works at its pace.
        made = [_say(caller, text_of(number), output="file", seed=1)[1] for number in range(runs)]
        rtfs = [result.rtf for result in made if result.rtf is not None]
        yield Measure(
            what=f"RTF, back to back: {name}", value=round(statistics.median(rtfs), 3), unit="", at_most=rtf
        )
    time.sleep(SETTLE_S)
    yield Measure(
        what="worker with both models (RSS)",
        value=_mib(_children_rss(daemon, "daemon.synthesis.worker")),
        unit="MiB",
        at_most=420,
    )
    cached = [_say(caller, english(0)) for _ in range(runs)]
    if not all(result.cached for _, result in cached):
        raise CosyvoicedError("a phrase that was said before did not come from the cache")
    first_s = statistics.median(first for first, _ in cached)
    yield Measure(what="first sample: cached phrase", value=round(first_s, 3), unit="s", at_most=0.05)


def _idle(daemon: psutil.Process) -> Iterator[Measure]:
    _wait(
        lambda: not _children(daemon, "daemon.synthesis.worker"),
        IDLE_UNLOAD_S + 20,
        "the worker did not unload",
    )
    yield Measure(
        what="worker after idle unload",
        value=_mib(_children_rss(daemon, "daemon.synthesis.worker")),
        unit="MiB",
        at_most=0,
    )
    yield Measure(what="daemon process, idle (RSS)", value=_mib(_rss(daemon)), unit="MiB", at_most=40)
    yield Measure(
        what="speaker process (RSS)", value=_mib(_children_rss(daemon, "daemon.audio.player")), unit="MiB"
    )


def _say(caller: Caller, text: str, **fields: Any) -> tuple[float, Result]:
    """Seconds from publishing to the first sample at the device, and the final result."""
    sent_s = time.monotonic()
    events = caller.events(caller.send({"text": text, **fields}), SAY_DEADLINE_S)
    final = events[-1][1]
    if final.event != Event.FINISHED:
        raise CosyvoicedError(f"'{text}' ended in {final.event}: {final.message}")
    started_s = next(at_s for at_s, result in events if result.event == Event.STARTED)
    return started_s - sent_s, final


@contextmanager
def _daemon(folder: Path, port: int) -> Iterator[psutil.Process]:
    config = folder / "cosyvoiced.yaml"
    (folder / "asound.conf").write_text(_ALSA, encoding="utf-8")
    config.write_text(
        f"""
        mqtt: {{broker: external, port: {port}, base_topic: {TOPICS.base}, node: {TOPICS.node}}}
        outputs: {{path: {folder / "outputs"}}}
        state: {{path: {folder / "state"}}}
        speaker: {{device: default, lead_in_s: 0, tail_s: 0}}
        limits: {{queue_length: 100000}}
        worker: {{idle_unload_s: {IDLE_UNLOAD_S}}}
        log_level: warning
        """,
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "daemon.cli", "run", "--config", str(config)]
    environment = {**os.environ, "ALSA_CONFIG_PATH": str(folder / "asound.conf")}
    with (folder / "log").open("a") as log, subprocess.Popen(command, stderr=log, env=environment) as process:
        try:
            yield psutil.Process(process.pid)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait_until_online(caller: Caller, daemon: psutil.Process) -> None:
    _wait(
        lambda: caller.online or not daemon.is_running() or daemon.status() == psutil.STATUS_ZOMBIE,
        START_DEADLINE_S,
        "the daemon did not come online",
    )
    if not caller.online:
        raise CosyvoicedError("the daemon did not start; try `cosyvoiced doctor`")


def _wait(condition: Callable[[], bool], deadline_s: float, problem: str) -> None:
    ends_s = time.monotonic() + deadline_s
    while not condition():
        if time.monotonic() > ends_s:
            raise CosyvoicedError(problem)
        time.sleep(0.02)


def _children(daemon: psutil.Process, module: str) -> list[psutil.Process]:
    found = []
    for child in daemon.children():
        try:
            if module in child.cmdline():
                found.append(child)
        except psutil.Error:  # it has just ended
            continue
    return found


def _rss(process: psutil.Process) -> int:
    return int(process.memory_info().rss)


def _children_rss(daemon: psutil.Process, module: str) -> int:
    return sum(_rss(child) for child in _children(daemon, module))


def _mib(size: int) -> float:
    return round(size / 2**20, 1)


def _since(started_s: float) -> float:
    return round(time.monotonic() - started_s, 2)
