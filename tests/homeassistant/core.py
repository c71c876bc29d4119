"""A Home Assistant core in this process, with the MQTT integration as a user sets it up."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from homeassistant import bootstrap, config_entries, core, loader
from homeassistant.core_config import async_process_ha_core_config
from homeassistant.helpers import device_registry, entity_registry
from homeassistant.setup import async_setup_component
from homeassistant.util.dt import utcnow

from tests.mqtt.mosquitto import free_port

DEADLINE_S = 30.0


class Core:
    """One run of Home Assistant over a configuration folder, which outlives it.

    async with Core(folder, broker.port) as core:
        await core.call("notify.send_message", "notify.test_say", message="Hello")
        await core.until(lambda: core.state("sensor.test_last_text") == "Hello", "it was said")
    """

    def __init__(self, folder: Path, broker_port: int) -> None:
        self._folder = folder
        self._broker_port = broker_port
        self._events: list[dict[str, Any]] = []  # of event entities, not yet asked for
        self._began_at = ""

    async def __aenter__(self) -> Self:
        self._folder.mkdir(exist_ok=True)
        (self._folder / "configuration.yaml").touch()
        hass = self.hass = core.HomeAssistant(str(self._folder))
        loader.async_setup(hass)
        hass.config.skip_pip = True  # all that is needed is installed
        hass.config_entries = config_entries.ConfigEntries(hass, {})
        await loader.async_get_custom_components(hass)
        await bootstrap.async_load_base_functionality(hass)
        await async_process_ha_core_config(hass, {})
        web = {"server_host": "127.0.0.1", "server_port": free_port()}
        assert await async_setup_component(hass, "homeassistant", {})
        assert await async_setup_component(hass, "http", {"http": web})
        known = hass.config_entries.async_entries("mqtt")
        if known:
            assert await async_setup_component(hass, "mqtt", {})
        self._began_at = utcnow().isoformat()
        hass.bus.async_listen(
            "state_changed", core.callback(lambda change: self._note_event(change.data["new_state"]))
        )
        await hass.async_start()
        if not known:
            await self._add_mqtt()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.hass.async_stop()

    async def _add_mqtt(self) -> None:
        """Settings, Devices & services, Add integration, MQTT: the broker's address, and Submit."""
        flow = self.hass.config_entries.flow
        form = await flow.async_init("mqtt", context={"source": config_entries.SOURCE_USER})
        address = {"broker": "127.0.0.1", "port": self._broker_port}
        done = await flow.async_configure(form["flow_id"], address)
        assert done["type"] == "create_entry", done

    def state(self, entity_id: str) -> str | None:
        """None: there is no such entity."""
        state = self.hass.states.get(entity_id)
        return None if state is None else str(state.state)

    def attributes(self, entity_id: str) -> dict[str, Any]:
        """As a client of Home Assistant sees them: through JSON."""
        state = self.hass.states.get(entity_id)
        assert state is not None, entity_id
        return _through_json(state.attributes)

    def _note_event(self, state: Any) -> None:
        # The state is the time of the last event, kept over a restart.
        if state is None or state.domain != "event" or state.state in ("unknown", "unavailable"):
            return
        if state.state > self._began_at:
            self._events.append(_through_json(state.attributes))

    async def event(self, kind: str) -> dict[str, Any]:
        """Waits for the next event of this type; its attributes. What came before it is forgotten."""
        await self.until(lambda: kind in [event["event_type"] for event in self._events], f"{kind} is told")
        while (event := self._events.pop(0))["event_type"] != kind:
            pass
        return event

    def entity_ids(self) -> set[str]:
        """Of the MQTT integration."""
        found = entity_registry.async_get(self.hass).entities.values()
        return {str(entry.entity_id) for entry in found if entry.platform == "mqtt"}

    def devices(self) -> list[Any]:
        return list(device_registry.async_get(self.hass).devices.values())

    async def call(self, action: str, entity_id: str, **data: Any) -> None:
        """What an automation does."""
        domain, _, service = action.partition(".")
        await self.hass.services.async_call(domain, service, {"entity_id": entity_id, **data}, blocking=True)

    async def until(self, condition: Callable[[], Any], what: str, deadline_s: float = DEADLINE_S) -> None:
        """Waits for the condition to hold."""
        ends_s = time.monotonic() + deadline_s
        while not condition():
            if time.monotonic() > ends_s:
                shown = {state.entity_id: state.state for state in self.hass.states.async_all()}
                raise AssertionError(f"not within {deadline_s:g} s: {what}; {shown}")
            await asyncio.sleep(0.05)

    async def until_state(self, entity_id: str, state: str, deadline_s: float = DEADLINE_S) -> None:
        await self.until(lambda: self.state(entity_id) == state, f"{entity_id} is {state}", deadline_s)


def _through_json(attributes: Mapping[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(dict(attributes), default=str))
    return plain
