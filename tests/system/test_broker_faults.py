"""A broker that goes away: what was accepted is spoken, and what comes meanwhile is told or taken later."""

import signal
import time

import pytest

from tests.system.conftest import StartDevice
from tests.system.device import wait_for

LONG = (
    "This is a long announcement that takes a good while to say, so that something can break meanwhile. " * 2
)


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
    device.leave()
    device.broker.stop()
    device.start(online=False)
    time.sleep(2.0)
    device.broker.start()
    wait_for(device._is_online, "online", 30)
    assert device.final(device.say("Hello again"))["event"] == "finished"


def test_with_the_embedded_broker(start_device: StartDevice) -> None:
    device = start_device(embedded=True)
    assert device.final(device.say("The whole thing in one command"))["event"] == "finished"


@pytest.mark.parametrize(("away_s", "keeps_session"), [(60.0, True), (5.0, False)])
def test_while_the_broker_is_away_the_queue_is_spoken_and_told_of_afterwards(
    start_device: StartDevice, away_s: float, keeps_session: bool
) -> None:
    device = start_device(limits={"ttl_s": 600})
    jobs = [device.say(f"Announcement number {number}") for number in range(4)]
    wait_for(lambda: device.ears.results(jobs[-1]), "all are accepted")
    before_s = device.heard_s()
    device.broker.kill()
    if not keeps_session:
        (device.broker.folder / "mosquitto.db").unlink(missing_ok=True)
    wait_for(lambda: device.heard_s() > before_s + 3.0, "it speaks on")
    time.sleep(away_s)
    device.broker.start()
    for job in jobs:
        assert device.final(job, 40)["event"] == "finished"
    heard_s = device.heard_s()
    assert device.final(device.say("Back again"))["event"] == "finished"
    assert device.heard_s() > heard_s


def test_a_broker_that_hangs_is_left_and_joined_again(start_device: StartDevice) -> None:
    device = start_device(mqtt={"keepalive_s": 5})
    device.broker.send_signal(signal.SIGSTOP)
    wait_for(
        lambda: "connection to the MQTT broker" in device.log or "lost" in device.log, "it is noticed", 40
    )
    device.broker.send_signal(signal.SIGCONT)
    assert device.final(device.say("Awake again"), 60)["event"] == "finished"
