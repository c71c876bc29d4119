"""What systemd is told by a whole daemon, over a real socket."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.systemd import Systemd
from tests.system.conftest import StartDevice
from tests.system.device import wait_for

WATCHDOG_S = 4.0


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[Systemd]:
    with Systemd(tmp_path, WATCHDOG_S) as systemd:
        yield systemd


def test_ready_comes_when_broker_and_engine_are_up_and_the_watchdog_is_fed(
    start_device: StartDevice, systemd: Systemd
) -> None:
    device = start_device(env=systemd.env)
    wait_for(lambda: "READY=1" in systemd.told(), "ready")
    told = systemd.told()
    before = told[: told.index("READY=1")]
    assert any(line.startswith("EXTEND_TIMEOUT_USEC=") for line in before)
    assert any(line.startswith("STATUS=starting: ") for line in before)
    assert "is ready" in device.log  # the engine is loaded
    wait_for(lambda: any("idle, 0 waiting, builtin, normal" in line for line in systemd.told()), "a status")
    systemd.forget()
    wait_for(lambda: systemd.told().count("WATCHDOG=1") >= 3, "it is fed", 3 * WATCHDOG_S)
    device.command("reload")
    wait_for(lambda: "RELOADING=1" in systemd.told(), "it reloads")
    wait_for(lambda: "READY=1" in systemd.told()[systemd.told().index("RELOADING=1") :], "it is up again")
    device.stop()
    assert systemd.told()[-1] == "STOPPING=1"


def test_without_a_broker_it_is_not_ready_and_says_why_and_is_not_killed_for_it(
    start_device: StartDevice, systemd: Systemd
) -> None:
    device = start_device()
    device.stop()
    device.leave()
    device.broker.stop()
    device.env.update(systemd.env)
    device.start(online=False)
    wait_for(lambda: any("STATUS=starting: nothing listens" in line for line in systemd.told()), "the reason")
    wait_for(lambda: systemd.told().count("WATCHDOG=1") >= 6, "it is fed", 4 * WATCHDOG_S)
    assert "READY=1" not in systemd.told()
    device.broker.start()
    wait_for(lambda: "READY=1" in systemd.told(), "ready")


def test_a_broker_that_leaves_later_starves_no_watchdog(start_device: StartDevice, systemd: Systemd) -> None:
    device = start_device(env=systemd.env)
    wait_for(lambda: "READY=1" in systemd.told(), "ready")
    device.broker.kill()
    time.sleep(WATCHDOG_S)
    systemd.forget()
    time.sleep(2 * WATCHDOG_S)
    assert "WATCHDOG=1" in systemd.told()
    device.broker.start()
    assert device.final(device.say("Back again"))["event"] == "finished"


def test_a_frozen_broker_is_left_and_starves_no_watchdog(start_device: StartDevice, systemd: Systemd) -> None:
    device = start_device(env=systemd.env, mqtt={"keepalive_s": 3600})
    wait_for(lambda: "READY=1" in systemd.told(), "ready")
    device.broker.send_signal(signal.SIGSTOP)
    time.sleep(3 * WATCHDOG_S)
    systemd.forget()
    time.sleep(2 * WATCHDOG_S)
    assert "WATCHDOG=1" in systemd.told()
    assert any("did not come back" in line or "does not answer" in line for line in device.log.splitlines())
    device.broker.send_signal(signal.SIGCONT)
    assert device.final(device.say("Awake again"), 60)["event"] == "finished"
