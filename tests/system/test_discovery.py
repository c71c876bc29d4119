"""The discovery message of a whole device at a real broker: there, renewed, moved, and forgotten."""

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.mqtt.mosquitto import Mosquitto, free_port
from tests.system.conftest import StartDevice
from tests.system.device import DISCOVERY, PYTHON, Device, wait_for

BIRTH = "homeassistant/status"


def discovery(action: str, config: Path) -> "subprocess.CompletedProcess[str]":
    command = [PYTHON, "-m", "daemon.cli", "discovery", action, "--config", str(config)]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


def messages(device: Device) -> dict[str, bytes]:
    """The last of each discovery topic, where it is not empty: what the broker keeps."""
    last = {topic: payload for topic, payload, _, _ in list(device.ears.messages)}
    return {topic: payload for topic, payload in last.items() if topic.endswith("/config") and payload}


def announced(device: Device) -> int:
    return len([payload for payload in device.ears.payloads(DISCOVERY) if payload])


def wait_for_all_of(device: Device, topics: set[str]) -> None:
    """Waits until the broker keeps these discovery messages and no other."""
    wait_for(lambda: set(messages(device)) == topics, f"{topics or 'nothing'} is announced")


def test_the_message_stays_at_the_broker_and_is_what_show_prints(device: Device) -> None:
    wait_for_all_of(device, {DISCOVERY})
    device.leave()
    wait_for_all_of(device, {DISCOVERY})
    assert [retain for topic, _, retain, _ in device.ears.messages if topic == DISCOVERY] == [True]
    message = json.loads(messages(device)[DISCOVERY])
    shown = discovery("show", device.config_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert json.loads(shown.stdout) == message
    assert message["cmps"]["notify_say"]["cmd_t"] == "cosyvoice/test/say"


def test_it_is_renewed_once_after_home_assistant_has_started(device: Device) -> None:
    wait_for(lambda: announced(device), "the device is announced")
    before = announced(device)
    for payload in ("offline", "online", "online"):
        device.ears.publish(BIRTH, payload)
    wait_for(lambda: announced(device) > before, "it is announced again", 10)
    assert announced(device) == before + 1


def test_a_stored_birth_renews_it_too(start_device: StartDevice) -> None:
    device = start_device()
    device.ears.publish(BIRTH, "online", retain=True)
    device.stop()
    before = announced(device)
    device.start()
    wait_for(lambda: announced(device) == before + 2, "at the connection, and for the stored birth", 10)
    assert "stored message" not in device.log


def test_another_node_clears_what_was_announced(start_device: StartDevice) -> None:
    device = start_device()
    wait_for_all_of(device, {DISCOVERY})
    device.stop()
    device.config["mqtt"]["node"] = "attic"
    device.start(online=False)
    wait_for_all_of(device, {"homeassistant/device/cosyvoiced_attic/config"})


def test_another_prefix_or_no_discovery_clears_what_was_announced(start_device: StartDevice) -> None:
    device = start_device()
    wait_for_all_of(device, {DISCOVERY})
    steps: tuple[tuple[dict[str, Any], set[str]], ...] = (
        ({"prefix": "home/lab"}, {"home/lab/device/cosyvoiced_test/config"}),
        ({"prefix": "homeassistant"}, {DISCOVERY}),
        ({"discovery": False}, set()),
    )
    for config, topics in steps:
        device.stop()
        device.config["homeassistant"] = config
        device.start()
        wait_for_all_of(device, topics)
    device.ears.publish(BIRTH, "online")
    assert device.final(device.say({"text": "still speaking", "output": "file"}))["event"] == "finished"


def test_forget_clears_it(start_device: StartDevice) -> None:
    device = start_device()
    wait_for_all_of(device, {DISCOVERY})
    forgotten = discovery("forget", device.config_path)
    assert (forgotten.returncode, forgotten.stderr) == (0, "")
    assert f"{DISCOVERY} is cleared" in forgotten.stdout
    assert "homeassistant.discovery" in forgotten.stdout
    wait_for_all_of(device, set())


def test_forget_without_a_broker_is_no_answer(tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(f"mqtt: {{broker: external, port: {free_port()}}}\n")
    forgotten = discovery("forget", config)
    assert (forgotten.returncode, forgotten.stdout) == (3, "")
    assert len(forgotten.stderr.splitlines()) == 1


def test_forget_without_the_right_to_write_says_so(tmp_path: Path) -> None:
    acl = tmp_path / "acl"
    acl.write_text("topic read #\n")
    acl.chmod(0o600)
    broker = Mosquitto(tmp_path, ("allow_anonymous true", f"acl_file {acl}"))
    broker.start()
    try:
        config = tmp_path / "c.yaml"
        config.write_text(f"mqtt: {{broker: external, port: {broker.port}, node: test}}\n")
        forgotten = discovery("forget", config)
    finally:
        broker.stop()
    assert (forgotten.returncode, forgotten.stdout) == (3, "")
    assert f"takes nothing for {DISCOVERY}" in forgotten.stderr
