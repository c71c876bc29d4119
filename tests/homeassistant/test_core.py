"""A running Home Assistant: the device appears by itself, is heard, and comes back after every restart."""

import asyncio
import json
import logging
import re
import subprocess
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.homeassistant.conftest import LONG
from tests.homeassistant.core import Core
from tests.mqtt.mosquitto import Mosquitto
from tests.system.device import DISCOVERY, OWN, PYTHON, Device

SAY = "notify.test_say"
EVENT = "event.test_announcement"
STATES = {
    SAY: "unknown",  # when something was sent; never yet
    "text.test_say": "",
    EVENT: "unknown",
    "select.test_voice": "auto",
    "select.test_style": "neutral",
    "number.test_volume": "100",
    "switch.test_do_not_disturb": "off",
    "button.test_stop": "unknown",
    "button.test_clear_queue": "unknown",
    "button.test_replay": "unknown",
    "button.test_test": "unknown",
    "sensor.test_status": "idle",
    "sensor.test_queue_length": "0",
    "sensor.test_last_text": "unknown",
    "sensor.test_last_duration": "unknown",
    "sensor.test_temperature": "45.6",
    "sensor.test_memory_available": "unknown",
    "sensor.test_outputs_size": "0",
    "binary_sensor.test_speaking": "off",
    "binary_sensor.test_problem": "off",
    "binary_sensor.test_throttled": "off",
}


COMPLAINERS = r"\.helpers\.template|\.components\.mqtt(?!\.client)"  # the client: of outages that we make


@pytest.fixture(autouse=True)
def no_complaints(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fails a test in which Home Assistant's log complains about a message of ours."""
    yield
    complaints = [
        record.getMessage()
        for record in caplog.get_records("call")
        if record.levelno >= logging.WARNING and re.search(COMPLAINERS, record.name)
    ]
    assert complaints == []


async def until_there(core: Core) -> None:
    """Waits until the device is online in Home Assistant."""
    await core.until_state("sensor.test_status", "idle")


async def said(core: Core, text: str) -> dict[str, Any]:
    """Says it; the attributes of the finished event."""
    await core.call("notify.send_message", SAY, message=text)
    await core.until_state("sensor.test_last_text", " ".join(text.split()))
    return await core.event("finished")


async def test_every_entity_is_there_with_its_state(device: Device, folder: Path) -> None:
    async with Core(folder, device.broker.port) as core:
        await until_there(core)
        await core.until(lambda: set(STATES) <= core.entity_ids(), "all entities are there")
        await core.until(
            lambda: all(core.state(name) == state for name, state in STATES.items()), "all are as expected"
        )
        assert core.entity_ids() == set(STATES)
        assert [known.name for known in core.devices()] == ["test"]
        voices = core.attributes("select.test_voice")["options"]
        assert voices[0] == "auto"
        assert {"heart", "zf_xiaoyi"} <= set(voices)
        assert "cantonese" in core.attributes("select.test_style")["options"]
        assert core.attributes("sensor.test_temperature")["friendly_name"] == "test Temperature"
        assert core.attributes("binary_sensor.test_throttled")["level"] == "normal"
        assert core.attributes("binary_sensor.test_problem")["problems"] == []


async def test_what_is_sent_is_heard_and_the_event_tells_it(device: Device, folder: Path) -> None:
    async with Core(folder, device.broker.port) as core:
        await until_there(core)
        heard_s = device.heard_s()
        text = 'Mum\'s "lasagne" is done, 180 °C'
        finished = await said(core, text)
        assert (finished["event"], finished["text"], finished["voice"]) == ("finished", text, "heart")
        assert device.heard_s() - heard_s == pytest.approx(finished["duration_s"], abs=0.3)
        duration_s = float(core.state("sensor.test_last_duration") or 0)
        assert duration_s == pytest.approx(finished["duration_s"])
        assert core.state("text.test_say") == text
        assert core.attributes("sensor.test_last_text")["id"] == finished["id"]
        assert core.state("binary_sensor.test_speaking") == "off"
        await core.call("text.set_value", "text.test_say", value="洗衣机已经洗好了")
        await core.until_state("text.test_say", "洗衣机已经洗好了")
        assert (await core.event("finished"))["voice"] == "zf_xiaoyi"


async def test_what_a_template_leaves_of_a_missing_value_is_rejected(device: Device, folder: Path) -> None:
    async with Core(folder, device.broker.port) as core:
        await until_there(core)
        await core.call("notify.send_message", SAY, message="unknown")
        assert (await core.event("rejected"))["code"] == "nothing_to_say"


async def test_json_from_a_template_chooses_more(device: Device, folder: Path) -> None:
    async with Core(folder, device.broker.port) as core:
        await until_there(core)
        fields = {"text": "Be quick", "style": "fast", "voice": "af_bella", "id": "from-home"}
        await core.call("notify.send_message", SAY, message=json.dumps(fields))
        await core.until_state("sensor.test_last_text", "Be quick")
        told = await core.event("finished")
        assert {name: told[name] for name in fields} == fields


async def test_settings_go_to_the_device_and_come_back(device: Device, folder: Path) -> None:
    async with Core(folder, device.broker.port) as core:
        await until_there(core)
        for action, setting, data, state in (
            ("select.select_option", "voice", {"option": "af_bella"}, "af_bella"),
            ("select.select_option", "voice", {"option": "auto"}, "auto"),
            ("select.select_option", "style", {"option": "slow"}, "slow"),
            ("number.set_value", "volume", {"value": 35}, "35"),
            ("switch.turn_on", "do_not_disturb", {}, "on"),
            ("switch.turn_off", "do_not_disturb", {}, "off"),
        ):
            entity = f"{action.partition('.')[0]}.test_{setting}"
            await core.call(action, entity, **data)
            await core.until_state(entity, state)
            assert device.ears.payloads(f"{OWN}/settings/{setting}")[-1].decode().lower() == state
        # A sentence as a style is set over MQTT only; the list has no place for it.
        await asyncio.to_thread(device.set, "style", "用四川话说这句话")
        await core.until_state("select.test_style", "unknown")
        await core.call("select.select_option", "select.test_style", option="neutral")
        await core.until_state("select.test_style", "neutral")
        await core.call("number.set_value", "number.test_volume", value=100)
        await core.until_state("number.test_volume", "100")


async def test_buttons_act(device: Device, folder: Path) -> None:
    async with Core(folder, device.broker.port) as core:
        await until_there(core)
        await core.call("button.press", "button.test_test")
        assert (await core.event("finished"))["text"] == "This is a test announcement."
        await core.call("notify.send_message", SAY, message=LONG)
        await core.until_state("binary_sensor.test_speaking", "on")
        await core.until_state("sensor.test_status", "speaking")
        assert (await core.event("started"))["text"] == LONG
        await core.call("button.press", "button.test_stop")
        assert (await core.event("cancelled"))["text"] == LONG
        await core.until_state("binary_sensor.test_speaking", "off")
        await core.call("button.press", "button.test_replay")
        again = await core.event("finished")
        assert again["text"] == "This is a test announcement."
        for text in (LONG, LONG + " Again."):
            await core.call("notify.send_message", SAY, message=text)
        await core.until_state("sensor.test_queue_length", "1")
        await core.call("button.press", "button.test_clear_queue")
        await core.until_state("sensor.test_queue_length", "0")
        await core.until_state("sensor.test_status", "idle")


async def test_a_restart_of_home_assistant_heals(device: Device, folder: Path) -> None:
    before = len(device.ears.payloads(DISCOVERY))
    async with Core(folder, device.broker.port) as core:
        await until_there(core)
        assert core.entity_ids() == set(STATES)
        await core.until(
            lambda: len(device.ears.payloads(DISCOVERY)) > before, "the device announces itself again"
        )
        await said(core, "Here I am again")


async def test_a_restart_of_a_forgetful_broker_heals(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        broker = Mosquitto(tmp_path)
        stack.callback(broker.stop)
        broker.start()
        device = stack.enter_context(Device(tmp_path, broker=broker))
        core = await stack.enter_async_context(Core(tmp_path / "home", broker.port))
        await until_there(core)
        await asyncio.to_thread(broker.stop)
        await core.until_state("sensor.test_status", "unavailable")
        online = len(device.ears.payloads(f"{OWN}/availability"))
        await asyncio.to_thread(broker.start)
        await core.until(lambda: len(device.ears.payloads(f"{OWN}/availability")) > online, "it is back", 60)
        await core.until_state("sensor.test_status", "idle", 60)
        await said(core, "The broker is back")


async def test_the_device_goes_and_comes_back_and_is_forgotten(device: Device, folder: Path) -> None:
    async with Core(folder, device.broker.port) as core:
        await until_there(core)
        await asyncio.to_thread(device.stop)
        await core.until_state(SAY, "unavailable")
        await asyncio.to_thread(device.start)
        await until_there(core)
        await asyncio.to_thread(device.stop)
        forget = [PYTHON, "-m", "daemon.cli", "discovery", "forget", "--config", str(device.config_path)]
        await asyncio.to_thread(subprocess.run, forget, check=True, timeout=30)
        await core.until(lambda: not core.entity_ids(), "all entities are gone")
        await core.until(lambda: not core.devices(), "the device is gone")
