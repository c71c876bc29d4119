"""What breaks costs one announcement at most: nothing accepted is lost, nothing is said twice."""

import random
import time
from pathlib import Path

import pytest

from tests.system.conftest import StartDevice
from tests.system.device import OWN, Device, wait_for

LONG = (
    "This is a long announcement that takes a good while to say, so that something can break meanwhile. " * 2
)


@pytest.mark.parametrize("moment_s", [0.0, 0.05, 0.3, 1.0])
def test_a_killed_daemon_goes_on_where_it_was(start_device: StartDevice, moment_s: float) -> None:
    device = start_device()
    jobs = [device.say({"text": f"Announcement number {number}", "ttl_s": 600}) for number in range(6)]
    wait_for(lambda: device.ears.results(jobs[-1]), "all are accepted")
    time.sleep(moment_s)
    device.kill()
    told = {result["id"] for result in device.ears.finals()}
    device.start()
    for job in jobs:
        assert device.final(job)["event"] == "finished"
    again = [result["id"] for result in device.ears.results() if result["event"] == "started"]
    assert all(again.count(job) == 1 for job in told)


def test_a_daemon_killed_at_ten_random_points_of_fifty_messages_loses_none(start_device: StartDevice) -> None:
    device = start_device(limits={"queue_length": 1000, "ttl_s": 600})
    chance = random.Random(7)
    jobs: list[str] = []
    for _ in range(10):
        jobs += [
            device.say({"text": f"Number {len(jobs) + number}", "output": chance.choice(("file", "both"))})
            for number in range(5)
        ]
        time.sleep(chance.uniform(0.0, 1.0))
        device.kill()
        device.start()
    for job in jobs:
        assert device.final(job, 60)["event"] == "finished"
    assert sorted(result["id"] for result in device.ears.finals()) == sorted(jobs)


def test_after_a_long_outage_nothing_stale_is_said(start_device: StartDevice) -> None:
    device = start_device(limits={"queue_length": 300})
    device.command("pause")
    wait_for(lambda: device.ears.state().get("status") == "paused", "paused")
    jobs = [device.say({"text": f"Stale {number}", "ttl_s": 2}) for number in range(200)]
    wait_for(lambda: device.ears.results(jobs[-1]), "all are accepted")
    device.kill()
    time.sleep(2.5)
    before_s = device.heard_s()
    device.start()
    assert {device.final(job)["event"] for job in jobs} == {"expired"}
    assert device.heard_s() == before_s


def test_sigterm_ends_in_time_and_says_so(start_device: StartDevice) -> None:
    device = start_device()
    job = device.say({"text": LONG, "ttl_s": 600})
    device.event(job, "started")
    began_s = time.monotonic()
    assert device.stop() == 0
    assert time.monotonic() - began_s < 5
    wait_for(lambda: device.ears.payloads(f"{OWN}/availability")[-1] == b"offline", "offline is published")
    assert not device.ears.finals(job)
    journal = Path(device.config["state"]["path"]) / "journal.sqlite"
    assert not journal.with_name("journal.sqlite-wal").exists()  # SQLite deletes it with a closed database
    device.start()
    assert device.final(job, 60)["event"] == "finished"


def test_a_killed_daemon_leaves_its_last_will(start_device: StartDevice) -> None:
    device = start_device()
    device.kill()
    wait_for(lambda: device.ears.payloads(f"{OWN}/availability")[-1] == b"offline", "the last will")


def test_two_daemons_on_one_state_folder(start_device: StartDevice) -> None:
    device = start_device()
    first = device._process
    device.start(online=False)
    second = device._process
    assert second is not None
    assert second.wait(30) == 1
    assert "already uses" in device.log
    device._process = first
    assert device.final(device.say("Undisturbed"))["event"] == "finished"


def test_two_daemons_with_one_name_say_so_and_neither_ends(
    start_device: StartDevice, tmp_path_factory: pytest.TempPathFactory
) -> None:
    first = start_device()
    with Device(tmp_path_factory.mktemp("second"), broker=first.broker) as second:
        wait_for(lambda: "another client" in first.log + second.log, "one of them says why", 40)
        heard_s = first.heard_s() + second.heard_s()
        job = first.say("Said by one of the two", qos=1)
        assert first.final(job, 60)["event"] == "finished"
        time.sleep(1.0)
        assert first.heard_s() + second.heard_s() - heard_s < 3.0
        started = [result for result in first.ears.results(job) if result["event"] == "started"]
        assert len(started) == 1
    assert first.final(first.say("Alone again"), 60)["event"] == "finished"
