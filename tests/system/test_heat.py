"""Heat and little memory, on a fake tree of sensors and on a real device: up and down every level."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import tiny_model
from tests.system.device import OWN, Device, wait_for
from tests.system.family import enrol
from tests.watch.trees import plant, vcgencmd, zone


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("root")


@pytest.fixture(scope="module")
def device(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Device]:
    """One that speaks with CosyVoice3 while it is cool."""
    folder = tmp_path_factory.mktemp("model")
    tiny_model.make(folder, enrolment=True)
    sense(root)
    watch = {"root": str(root), "interval_s": 0.2, "rise_s": 0.2, "dwell_s": 1.0}
    with Device(
        tmp_path_factory.mktemp("device"), cosyvoice3={"model": str(folder / "prepared")}, watch=watch
    ) as device:
        enrol(device, "mama")
        wait_for(lambda: b'"mama"' in device.ears.payloads(f"{OWN}/voices")[-1], "the voice")
        yield device


def sense(root: Path, celsius: float = 50.0, free_mib: int = 8000) -> None:
    memory = f"MemTotal: 8388608 kB\nMemAvailable: {free_mib * 1024} kB\n"
    plant(root, {**zone(0, "cpu-thermal", f"{int(celsius * 1000)}\n"), "proc/meminfo": memory})


def reach(device: Device, level: str) -> None:
    wait_for(lambda: device.ears.state().get("throttle") == level, level)


def said(device: Device, **fields: object) -> dict[str, object]:
    """Something new, so that the phrase cache does not know it."""
    text = f"Number {secrets.randbelow(10**6)}"
    return device.final(device.say({"text": text, "output": "file", **fields}))


def test_every_level_on_the_way_up_and_down(root: Path, device: Device) -> None:
    assert said(device)["engine"] == "cosyvoice3"
    cached = {"text": "Known by heart", "voice": "heart"}
    device.final(device.say({**cached, "output": "file"}))

    sense(root, 76.0)
    reach(device, "warm")
    result = said(device)
    assert (result["engine"], result["degraded"]) == ("cosyvoice3", [])

    sense(root, 81.0)
    reach(device, "hot")
    assert device.ears.state()["engine"] == "builtin"
    assert device.ears.state()["throttle_reason"] == "the processor is at 81.0 °C"
    result = said(device, voice="mama")
    assert (result["event"], result["engine"], result["degraded"]) == ("finished", "builtin", ["voice"])
    wait_for(lambda: len(device.children("daemon.synthesis.worker")) == 1, "the heavy worker is gone")

    sense(root, 85.0)
    reach(device, "critical")
    waiting = device.say({"text": "This can wait", "ttl_s": 600, "output": "file"})
    stale = device.say({"text": "This cannot wait", "ttl_s": 2, "output": "file"})
    assert device.final(device.say(cached))["cached"] is True
    assert said(device, priority="important")["event"] == "finished"
    late = device.final(stale)
    assert (late["event"], late["code"]) == ("expired", "throttled")
    assert "85.0 °C" in late["message"]
    assert not device.ears.finals(waiting)

    sense(root, 78.0)
    reach(device, "hot")
    assert device.final(waiting)["engine"] == "builtin"
    sense(root, 72.0)
    reach(device, "warm")
    sense(root, 60.0)
    reach(device, "normal")
    assert said(device)["engine"] == "cosyvoice3"

    lines = [line.split("throttle: ")[1] for line in device.log.splitlines() if "throttle: " in line]
    assert [line.split(",")[0].split(" ")[0] for line in lines] == [
        *("warm", "hot", "critical", "hot", "warm", "normal")
    ]
    throttled_s = device.ears.state()["metrics"]["throttled_s"]
    assert all(throttled_s[level] > 0 for level in ("warm", "hot", "critical"))


def test_falling_memory_unloads_the_heavy_engine_and_then_every_worker(root: Path, device: Device) -> None:
    assert said(device)["engine"] == "cosyvoice3"
    said(device, voice="heart")
    sense(root, free_mib=200)
    reach(device, "hot")
    assert said(device, voice="mama")["degraded"] == ["voice"]
    sense(root, free_mib=50)
    reach(device, "critical")
    wait_for(lambda: not device.children("daemon.synthesis.worker"), "no worker is left")
    assert said(device, priority="important")["event"] == "finished"
    sense(root)
    reach(device, "normal")
    assert said(device)["engine"] == "cosyvoice3"


def test_a_weak_power_supply_is_told_apart_from_heat(root: Path, device: Device) -> None:
    vcgencmd(root, "echo throttled=0x50005")
    reach(device, "warm")
    state = device.ears.state()
    assert (state["undervoltage"], state["throttle_reason"]) == (True, state["problems"][0])
    vcgencmd(root, "echo throttled=0x50000")
    reach(device, "normal")
    assert device.ears.state()["undervoltage"] is False
