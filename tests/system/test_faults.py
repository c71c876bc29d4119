"""What breaks costs one announcement at most: nothing accepted is lost, nothing is said twice."""

import random
import signal
import time
from pathlib import Path

import pytest

from tests.system.conftest import StartDevice
from tests.system.device import OWN, wait_for

LONG = (
    "This is a long announcement that takes a good while to say, so that something can break meanwhile. " * 2
)


def test_a_worker_killed_while_speaking_costs_nothing(start_device: StartDevice) -> None:
    device = start_device(limits={"max_text_length": 2000})
    device.final(device.say({"text": "Warm up", "output": "file"}))
    job = device.say({"text": "第一句话很长。" * 40, "output": "file"})
    device.event(job, "started")
    device.worker().kill()
    assert device.final(job, 90)["event"] == "finished"
    assert device.final(device.say("And the next"))["event"] == "finished"


def test_a_worker_killed_again_and_again_fails_one_job(start_device: StartDevice) -> None:
    device = start_device(limits={"max_text_length": 2000})
    job = device.say({"text": "第一句话很长。" * 100, "output": "file"})
    killed: set[int] = set()
    while not device.ears.finals(job):
        for worker in device.children("daemon.synthesis.worker"):
            if worker.pid not in killed and device.ears.results(job):
                time.sleep(1.0)
                worker.kill()
                killed.add(worker.pid)
        time.sleep(0.05)
    result = device.final(job)
    assert (result["event"], result["code"]) == ("failed", "engine_failed")
    assert device.final(device.say("Well again"), 60)["event"] == "finished"


def test_a_frozen_worker_is_replaced(start_device: StartDevice) -> None:
    device = start_device()
    device.final(device.say({"text": "Warm up", "output": "file"}))
    frozen = device.worker()
    frozen.send_signal(signal.SIGSTOP)
    assert device.final(device.say("Said by another worker"), 60)["event"] == "finished"
    assert not frozen.is_running()


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


def test_a_daemon_killed_at_random_during_a_burst_loses_nothing(start_device: StartDevice) -> None:
    device = start_device(limits={"queue_length": 1000, "ttl_s": 600})
    chance = random.Random(7)
    jobs: list[str] = []
    for _ in range(4):
        jobs += [
            device.say({"text": f"Number {len(jobs) + number}", "output": "file"}) for number in range(12)
        ]
        time.sleep(chance.uniform(0.0, 0.4))
        device.kill()
        device.start()
    for job in jobs:
        assert device.final(job, 60)["event"] == "finished"
    assert sorted(result["id"] for result in device.ears.finals()) == sorted(jobs)


def test_after_a_long_outage_nothing_stale_is_said(start_device: StartDevice) -> None:
    device = start_device(limits={"queue_length": 300})
    device.command("pause")
    wait_for(lambda: device.ears.state().get("status") == "paused", "paused")
    jobs = [device.say({"text": f"Stale {number}", "ttl_s": 2}) for number in range(50)]
    wait_for(lambda: device.ears.results(jobs[-1]), "all are accepted")
    device.kill()
    time.sleep(2.5)
    before_s = device.heard_s()
    device.start()
    assert {device.final(job)["event"] for job in jobs} == {"expired"}
    assert device.heard_s() == before_s


def test_a_broker_that_goes_away_and_comes_back(start_device: StartDevice) -> None:
    device = start_device()
    job = device.say({"text": LONG})
    device.event(job, "started")
    device.broker.kill()
    time.sleep(1.0)
    device.broker.start()
    assert device.final(job, 60)["event"] == "finished"
    assert device.final(device.say("Back again"))["event"] == "finished"


def test_a_broker_that_is_down_at_the_start_is_waited_for(start_device: StartDevice) -> None:
    device = start_device()
    device.stop()
    device.ears.close()
    device._ears = None
    device.broker.stop()
    device.start(online=False)
    time.sleep(2.0)
    device.broker.start()
    wait_for(device._is_online, "online", 30)
    assert device.final(device.say("Hello again"))["event"] == "finished"


def test_a_missing_sound_device_fails_the_job_and_keeps_its_file(start_device: StartDevice) -> None:
    device = start_device(speaker={"device": "no such card"})
    result = device.final(device.say("Nobody hears this"))
    assert (result["event"], result["code"]) == ("failed", "audio_device")
    assert Path(result["wav_path"]).stat().st_size > 44
    assert device.final(device.say({"text": "Still at work", "output": "file"}))["event"] == "finished"


def test_a_killed_speaker_process_fails_one_job(start_device: StartDevice) -> None:
    device = start_device()
    job = device.say(LONG)
    device.event(job, "started")
    device.children("daemon.audio.player")[0].kill()
    result = device.final(job)
    assert (result["event"], result["code"]) == ("failed", "audio_device")
    assert result["wav_path"]
    assert device.final(device.say("Heard again"))["event"] == "finished"


def test_sigterm_ends_in_time_and_says_so(start_device: StartDevice) -> None:
    device = start_device()
    job = device.say({"text": LONG, "ttl_s": 600})
    device.event(job, "started")
    began_s = time.monotonic()
    assert device.stop() == 0
    assert time.monotonic() - began_s < 5
    wait_for(lambda: device.ears.payloads(f"{OWN}/availability")[-1] == b"offline", "offline is published")
    assert not device.ears.finals(job)
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


def test_with_the_embedded_broker(start_device: StartDevice) -> None:
    device = start_device(embedded=True)
    assert device.final(device.say("The whole thing in one command"))["event"] == "finished"


def test_idle_unload_returns_the_memory_and_the_next_message_loads_again(start_device: StartDevice) -> None:
    device = start_device(worker={"idle_unload_s": 2.0})
    device.final(device.say({"text": "Warm up", "output": "file"}))
    wait_for(lambda: not device.children("daemon.synthesis.worker"), "the worker is gone")
    assert device.final(device.say("Awake again"))["event"] == "finished"
