"""What users copy from docs/home-assistant runs in a real Home Assistant and is heard."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from homeassistant.setup import async_setup_component
from homeassistant.util.yaml import load_yaml

from tests.homeassistant.core import Core
from tests.system.device import Device, wait_for

DOCS = Path(__file__).parents[2] / "docs" / "home-assistant"
BLUEPRINT = "cosyvoiced/announce.yaml"
USE = {
    "alias": "Use of the blueprint",
    "use_blueprint": {
        "path": BLUEPRINT,
        "input": {"watched": ["binary_sensor.window"], "speaker": ["notify.test_say"]},
    },
}


def put(source: Path, target: Path) -> Path:
    """Copies an example for the node `test`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(source.read_text(encoding="utf-8").replace("kitchen", "test"), encoding="utf-8")
    return target


def examples(kind: str, folder: Path) -> dict[str, Any]:
    """By their names, as Home Assistant reads them."""
    found = sorted((DOCS / kind).glob("*.yaml"))
    return {path.stem: load_yaml(str(put(path, folder / kind / path.name))) for path in found}


async def furnish(core: Core, folder: Path) -> None:
    """Sets all examples up, and the things that they look at; waits until the device is there."""
    put(DOCS / "blueprints" / "announce.yaml", folder / "blueprints" / "automation" / BLUEPRINT)
    for name in ("window", "smoke_detector", "front_door"):
        core.hass.states.async_set(f"binary_sensor.{name}", "off")
    automations = [{"id": name, **data} for name, data in examples("automations", folder).items()]
    assert await async_setup_component(core.hass, "automation", {"automation": [*automations, USE]})
    assert await async_setup_component(core.hass, "script", {"script": examples("scripts", folder)})
    await core.until_state("sensor.test_status", "idle")


async def run(core: Core, script: str, **data: Any) -> Any:
    async with asyncio.timeout(60):
        return await core.hass.services.async_call(
            "script", script, data, blocking=True, return_response=script == "say_and_wait"
        )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


async def test_all_examples_are_taken(device: Device, home: Path) -> None:
    async with Core(home, device.broker.port) as core:
        await furnish(core, home)
        taken = {
            state.entity_id: state.state for state in core.hass.states.async_all(("automation", "script"))
        }
        assert {name for name, state in taken.items() if state == "unavailable"} == set()
        assert len(taken) == len(list(DOCS.glob("automations/*"))) + len(list(DOCS.glob("scripts/*"))) + 1


async def test_the_scripts_speak_and_wait_for_the_end(device: Device, home: Path) -> None:
    async with Core(home, device.broker.port) as core:
        await furnish(core, home)
        before_s = device.heard_s()
        assert await run(core, "say_and_wait", message='It\'s "so":\n21 °C') == {"finished": True}
        assert device.heard_s() - before_s > 0.8
        assert await run(core, "say_and_wait", message="...") == {"finished": False}
        await run(core, "say", message="Good morning", voice="am_michael", style="slow", chime=True)
        await asyncio.to_thread(wait_for, lambda: _last(device)["text"] == "Good morning", "it was said")
        last = _last(device)
        assert (last["event"], last["voice"], last["style"]) == ("finished", "am_michael", "slow")


async def test_music_goes_on_where_it_was_playing(device: Device, home: Path) -> None:
    calls: list[tuple[str, list[str]]] = []
    async with Core(home, device.broker.port) as core:
        await furnish(core, home)
        core.hass.states.async_set("media_player.radio", "playing")
        core.hass.states.async_set("media_player.television", "paused")

        async def control(call: Any) -> None:
            calls.append((call.service, call.data["entity_id"]))
            state = "paused" if call.service == "media_pause" else "playing"
            core.hass.states.async_set("media_player.radio", state)

        for service in ("media_pause", "media_play"):
            core.hass.services.async_register("media_player", service, control)
        players = ["media_player.radio", "media_player.television"]
        known = len(device.ears.finals())
        await run(core, "say_over_music", message="Dinner is ready", players=players)
        assert [final["event"] for final in device.ears.finals()[known:]] == ["finished"]
    assert calls == [("media_pause", ["media_player.radio"]), ("media_play", ["media_player.radio"])]


async def test_the_automations_speak(device: Device, home: Path) -> None:
    async with Core(home, device.broker.port) as core:
        await furnish(core, home)
        core.hass.states.async_set("binary_sensor.window", "on", {"friendly_name": "Window"})
        await asyncio.to_thread(wait_for, lambda: _last(device)["text"] == "Window: on", "the blueprint's")
        core.hass.states.async_set("binary_sensor.smoke_detector", "on")
        smoke = "Smoke in the test. Please leave the house."
        await asyncio.to_thread(wait_for, lambda: _last(device)["text"] == smoke, "the alarm's")
        core.hass.states.async_set("binary_sensor.smoke_detector", "off")


def _last(device: Device) -> dict[str, Any]:
    """The newest final result."""
    return (device.ears.finals() or [{"text": None}])[-1]
