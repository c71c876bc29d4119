"""A full disk: announcements are still spoken, once; files are refused, and later made again."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.disk import SmallDisk
from tests.system.device import Device, models_shared_with, wait_for

KIB = 2**10

StartOnDisk = Callable[..., Device]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with SmallDisk(tmp_path / "disk", mib=24) as disk:
        yield disk


@pytest.fixture
def start(tmp_path: Path, disk: SmallDisk) -> Iterator[StartOnDisk]:
    """A device whose state and files are on the small disk."""
    devices: list[Device] = []

    def start(**limits_mib: int) -> Device:
        device = Device(
            tmp_path,
            state={"path": str(models_shared_with(disk.folder / "state"))},
            outputs={"path": str(disk.folder / "outputs")},
            watch={"disk": limits_mib},
        )
        devices.append(device)
        return device.__enter__()

    yield start
    for device in devices:
        device.__exit__(None, None, None)


def test_a_nearly_full_disk_refuses_files_and_speaks(start: StartOnDisk, disk: SmallDisk) -> None:
    device = start(prune_mib=8, refuse_mib=4)
    disk.fill(but_bytes=3 * 2**20)
    before_s = device.heard_s()
    result = device.final(device.say("There is no room, and still this is heard"))
    assert (result["event"], result["degraded"], result["wav_path"]) == ("finished", ["file"], None)
    assert device.heard_s() - before_s > 1.0
    refused = device.final(device.say({"text": "Only a file", "output": "file"}))
    assert (refused["event"], refused["code"]) == ("failed", "disk_full")
    wait_for(lambda: _disk_problem(device), "the state says so", 20)
    disk.empty()
    result = device.final(device.say({"text": "Only a file", "output": "file"}))
    assert (result["event"], result["degraded"]) == ("finished", [])
    assert Path(result["wav_path"]).stat().st_size > 44
    wait_for(lambda: not _disk_problem(device), "the state says that all is well", 20)


def test_a_disk_that_fills_up_while_a_wav_is_written_costs_the_file_alone(
    start: StartOnDisk, disk: SmallDisk
) -> None:
    device = start(prune_mib=0, refuse_mib=0)
    disk.fill(but_bytes=150 * KIB)  # three seconds of sound
    before_s = device.heard_s()
    text = "This goes on for longer than three seconds, and so there is not room enough for all of it. "
    result = device.final(device.say(text * 2))
    assert (result["event"], result["degraded"], result["wav_path"]) == ("finished", ["file"], None)
    assert abs(device.heard_s() - before_s - result["duration_s"]) < 0.5
    assert not list((disk.folder / "outputs").iterdir())
    assert not list((disk.folder / "state" / "phrases").glob("*.wav"))


def test_a_disk_without_room_for_the_journal_loses_nothing_and_says_nothing_twice(
    start: StartOnDisk, disk: SmallDisk
) -> None:
    device = start(prune_mib=0, refuse_mib=0)
    journalled = [device.say(f"Journalled {number}") for number in range(3)]
    wait_for(lambda: device.ears.results(journalled[-1]), "they are accepted")
    disk.fill()
    squeezed = [device.say({"text": f"Squeezed in {number}", "ttl_s": 600}) for number in range(10)]
    wait_for(lambda: any("journal" in problem for problem in _problems(device)), "the state says so", 20)
    for job in (*journalled, *squeezed):
        assert device.final(job, 90)["event"] == "finished"
    device.say({"text": "Again", "id": squeezed[0]})
    wait_for(lambda: device.ears.results(squeezed[0])[-1]["code"] == "duplicate", "it is known")
    assert device.log.count("the journal cannot be written") == 1
    disk.empty()
    wait_for(lambda: "can be written again" in device.log, "the journal is back", 20)
    heard_s = device.heard_s()
    device.kill()
    device.start()
    assert device.final(device.say("Only this is new"))["event"] == "finished"
    assert device.heard_s() - heard_s < 3.0
    told = [result["id"] for result in device.ears.results() if result["event"] == "started"]
    assert len(told) == len(set(told))


def test_a_daemon_that_starts_on_a_full_disk_speaks(start: StartOnDisk, disk: SmallDisk) -> None:
    device = start(prune_mib=0, refuse_mib=0)
    device.final(device.say("Before"))
    device.stop()
    disk.fill()
    device.start()
    assert device.final(device.say("In spite of the full disk"))["event"] == "finished"


def _problems(device: Device) -> list[Any]:
    return list(device.ears.state().get("problems", []))


def _disk_problem(device: Device) -> bool:
    return any("disk" in problem for problem in _problems(device))
