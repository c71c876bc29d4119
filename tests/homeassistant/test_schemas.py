"""The discovery message passes Home Assistant's own schemas, and nothing of it is dropped unseen."""

import importlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from homeassistant.components.mqtt import discovery
from homeassistant.components.mqtt.const import SUPPORTED_COMPONENTS
from homeassistant.core import HomeAssistant
from homeassistant.util import slugify

from tests.system.device import PYTHON

NEWER = {"def_ent_id"}  # what this version does not know yet


def shown(folder: Path, node: str, **config: Any) -> dict[str, Any]:
    """What `cosyvoiced discovery show` prints."""
    path = folder / "c.yaml"
    path.write_text(yaml.safe_dump({"mqtt": {"node": node}, "state": {"path": str(folder)}} | config))
    command = [PYTHON, "-m", "daemon.cli", "discovery", "show", "--config", str(path)]
    printed = subprocess.run(command, capture_output=True, check=True, timeout=30).stdout
    message: dict[str, Any] = json.loads(printed)
    return message


async def parsed(folder: Path, message: dict[str, Any]) -> dict[str, Any]:
    """As Home Assistant takes it from the broker; empty where it refuses it."""
    hass = HomeAssistant(str(folder))
    try:
        payload = json.dumps(message)
        return dict(discovery._parse_device_payload(hass, payload, "cosyvoiced_kitchen", None))
    finally:
        await hass.async_stop(force=True)


@pytest.mark.parametrize("node", ["kitchen", "客厅"])
async def test_every_entity_passes_the_schema_of_its_platform(tmp_path: Path, node: str) -> None:
    device = await parsed(tmp_path, shown(tmp_path, node))
    assert device["device"]["name"] == node
    for key, entity in device["components"].items():
        platform = entity.pop("platform")
        assert platform in SUPPORTED_COMPONENTS
        common = {name: device[name] for name in ("device", "origin", "availability")}
        schema = importlib.import_module(f"homeassistant.components.mqtt.{platform}").DISCOVERY_SCHEMA
        taken = schema(entity | common)
        assert set(entity) - NEWER <= set(taken), key


async def test_the_entity_ids_are_those_that_home_assistant_makes_of_the_names(tmp_path: Path) -> None:
    for node in ("kitchen", "Living-Room", "pi.local", "top floor_2"):
        for entity in shown(tmp_path, node)["cmps"].values():
            made = slugify(f"{node} {entity.get('name') or entity['dev_cla']}")
            assert entity["def_ent_id"] == f"{entity['p']}.{made}"


async def test_an_unknown_key_at_the_top_would_cost_the_whole_device(tmp_path: Path) -> None:
    message = shown(tmp_path, "kitchen")
    assert await parsed(tmp_path, message)
    assert not await parsed(tmp_path, message | {"child_devices": {}})
