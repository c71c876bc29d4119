"""A worker that is killed or hangs costs one announcement a retry, and the others nothing."""

import signal
import time

import pytest

from tests.system.conftest import StartDevice
from tests.system.device import wait_for


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


def test_idle_unload_returns_the_memory_and_the_next_message_loads_again(start_device: StartDevice) -> None:
    device = start_device(worker={"idle_unload_s": 2.0})
    device.final(device.say({"text": "Warm up", "output": "file"}))
    wait_for(lambda: not device.children("daemon.synthesis.worker"), "the worker is gone")
    assert device.final(device.say("Awake again"))["event"] == "finished"


def test_a_worker_killed_while_idle_is_not_missed(start_device: StartDevice) -> None:
    device = start_device()
    device.final(device.say({"text": "Warm up", "output": "file"}))
    device.worker().kill()
    result = device.final(device.say("Said by another worker"))
    assert (result["event"], result["degraded"]) == ("finished", [])


def test_a_worker_killed_while_loading_is_loaded_again(start_device: StartDevice) -> None:
    device = start_device(worker={"warm_start": False})
    job = device.say("Said in spite of that")
    device.worker().kill()  # as soon as there is one: it is still importing
    assert device.final(job, 60)["event"] == "finished"


@pytest.mark.timeout(240)
def test_five_workers_killed_in_a_row_are_the_end_of_no_daemon(start_device: StartDevice) -> None:
    device = start_device(limits={"max_text_length": 2000})
    killed: set[int] = set()
    jobs: list[str] = []
    while len(killed) < 5:
        jobs.append(device.say({"text": f"第{len(jobs)}句话很长。" * 40, "output": "file"}))
        device.event(jobs[-1], "accepted")
        while not device.ears.finals(jobs[-1]) and len(killed) < 5:
            for worker in device.children("daemon.synthesis.worker"):
                if worker.pid not in killed:
                    time.sleep(0.5)
                    worker.kill()
                    killed.add(worker.pid)
            time.sleep(0.02)
    ends = [device.final(job, 90) for job in jobs]
    assert {end["code"] for end in ends} <= {None, "engine_failed"}
    # The engine cools down for a minute; who asks meanwhile waits for it.
    assert device.final(device.say("Well again"), 100)["event"] == "finished"
    # One that died before it was ready may have been started for the next job anyway.
    wait_for(lambda: device.ears.state()["metrics"]["worker_restarts"] >= 4, "they are counted")


def test_a_worker_that_hangs_while_idle_is_found_before_anybody_needs_it(start_device: StartDevice) -> None:
    device = start_device()
    device.final(device.say({"text": "Warm up", "output": "file"}))
    hung = device.worker()
    hung.send_signal(signal.SIGSTOP)
    wait_for(lambda: not hung.is_running(), "it is found", 40)
    assert device.final(device.say("Nobody waited for that"))["event"] == "finished"
