"""For hours: no memory, no file and no thread more than at the beginning.

CI runs a short one, at a message every quarter of a second; `--soak-minutes 30` one of half an hour at a
message every two seconds.
"""

import time
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from tests.system.conftest import StartDevice
from tests.system.device import Device, wait_for

SHORT_S, SHORT_INTERVAL_S = 100.0, 0.25
LONG_INTERVAL_S = 2.0
SETTLED_SHARE = 0.3  # of the time: by then every cache has been used
FLAT = 1.05
POOL = 2  # threads of the pool for blocking calls that may come late; it is bounded, a leak is not


class Size(NamedTuple):
    """Of the daemon process, or of one of its children."""

    rss_bytes: int
    files: int
    threads: int


def _sizes(device: Device) -> dict[str, Size]:
    daemon = psutil.Process(device.pid)
    processes = {"daemon": daemon}
    for name, module in (("worker", "daemon.synthesis.worker"), ("player", "daemon.audio.player")):
        (processes[name],) = device.children(module)
    return {
        name: Size(process.memory_info().rss, process.num_fds(), process.num_threads())
        for name, process in processes.items()
    }


@pytest.mark.timeout(0)
def test_nothing_grows(start_device: StartDevice, request: pytest.FixtureRequest) -> None:
    minutes: float | None = request.config.getoption("--soak-minutes")
    duration_s = minutes * 60 if minutes else SHORT_S
    interval_s = LONG_INTERVAL_S if minutes else SHORT_INTERVAL_S
    device = start_device(limits={"queue_length": 1000, "ttl_s": 86400}, outputs={"max_files": 50})
    began_s = time.monotonic()
    jobs: list[str] = []
    settled: dict[str, Size] = {}
    while (spent_s := time.monotonic() - began_s) < duration_s:
        if not settled and spent_s > SETTLED_SHARE * duration_s:
            device.final(jobs[-1], 60)
            settled = _sizes(device)
        number = len(jobs)
        text = "Known by heart" if number % 2 else f"第{number}号" if number % 10 == 0 else f"Number {number}"
        aloud = number % 12 == 0  # a second and more each: the loudspeaker is not to be the bottleneck
        jobs.append(device.say({"text": text, "output": "both" if aloud else "file"}))
        if number % 40 == 39:
            device.final(jobs[-1], 60)  # as fast as it goes, and no faster
        time.sleep(interval_s)
    for job in jobs:
        assert device.final(job, 60)["event"] == "finished"
    time.sleep(2.0)
    ended = _sizes(device)
    print({name: (settled[name], ended[name]) for name in ended})
    assert ended["daemon"].rss_bytes <= FLAT * settled["daemon"].rss_bytes
    assert ended["worker"].rss_bytes <= 1.15 * settled["worker"].rss_bytes  # its longest sentence comes late
    for name, size in ended.items():
        assert size.files <= settled[name].files, name
        assert size.threads <= settled[name].threads + POOL, name
    wait_for(lambda: len(list((Path(device.folder) / "outputs").glob("*.wav"))) >= 50, "files")
