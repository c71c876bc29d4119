"""The entities that Home Assistant shows for the device. Pure data over the topics of the MQTT contract.

Keys are Home Assistant's abbreviations: `p` platform, `cmd_t` command topic, `stat_t` state topic, `val_tpl`
value template, `ic` icon, `ent_cat` entity category, `dev_cla` device class, `ops` options. A device class
without a name is named by Home Assistant, in its user's language.
"""

import json
from collections.abc import Iterable
from typing import Any

from daemon import styles
from daemon.mqtt.messages import STATUSES, Event
from daemon.mqtt.topics import Topics

Entity = dict[str, Any]

MAX_STATE_LENGTH = 255  # homeassistant/const.py, MAX_LENGTH_STATE_STATE: a longer state becomes unknown
UNKNOWN = "none"  # in any case: how a select reads that nothing is known, so no option can be called so
TOLD = tuple(event for event in Event if event != Event.ACCEPTED)
TEST_TEXTS = {"zh": "这是一次播报测试。", "ja": "これは放送のテストです。"}
TEST_TEXT = "This is a test announcement."

_LAST_TEXT = "(value_json.last or {}).get('text')"


def entities(topics: Topics, voices: Iterable[str], max_text_length: int, language: str) -> dict[str, Entity]:
    """All of them, by their ids in the discovery message."""
    return {
        f"{entity['p']}_{name}": {"qos": 1} | entity
        for name, entity in (
            *_speech(topics, min(max_text_length, MAX_STATE_LENGTH)),
            *_settings(topics, voices),
            *_buttons(topics, TEST_TEXTS.get(language, TEST_TEXT)),
            *_sensors(topics),
            *_diagnostics(topics),
        )
    }


def _speech(topics: Topics, max_length: int) -> Iterable[tuple[str, Entity]]:
    say = {"name": "Say", "cmd_t": f"{topics.own}/say", "ic": "mdi:bullhorn"}
    yield "say", say | {"p": "notify"}
    said = {"stat_t": topics.state, "val_tpl": f"{{{{ ({_LAST_TEXT} or '')[:{max_length}] }}}}"}
    yield "say", say | said | {"p": "text", "max": max_length}
    events = json.dumps(TOLD)
    yield (
        "announcement",
        {
            "p": "event",
            "name": "Announcement",
            "ic": "mdi:bullhorn-outline",
            "stat_t": topics.result,
            "evt_typ": list(TOLD),
            "val_tpl": f"{{% if value_json.event in {events} %}}"
            "{{ dict(value_json, event_type=value_json.event) | to_json }}{% endif %}",
        },
    )


def _settings(topics: Topics, voices: Iterable[str]) -> Iterable[tuple[str, Entity]]:
    def setting(platform: str, name: str, title: str, icon: str) -> Entity:
        command, state = f"{topics.own}/set/{name}", topics.settings(name)
        return {"p": platform, "name": title, "ic": icon, "cmd_t": command, "stat_t": state}

    yield "voice", setting("select", "voice", "Voice", "mdi:account-voice") | _choice(("auto", *voices))
    yield "style", setting("select", "style", "Style", "mdi:drama-masks") | _choice(styles.PRESETS)
    volume = {"min": 0, "max": 100, "step": 5, "mode": "slider", "unit_of_meas": "%"}
    yield "volume", setting("number", "volume", "Volume", "mdi:volume-high") | volume
    yield (
        "do_not_disturb",
        setting("switch", "do_not_disturb", "Do not disturb", "mdi:bell-sleep")
        | {"pl_on": "ON", "pl_off": "OFF"},
    )


def _choice(names: Iterable[str]) -> Entity:
    """Options, and a state that is unknown while the setting is none of them: a style may be a sentence."""
    options = [name for name in dict.fromkeys(names) if name.lower() != UNKNOWN]
    known = json.dumps(options, ensure_ascii=False)
    return {"ops": options, "val_tpl": f"{{{{ value if value in {known} else none }}}}"}


def _buttons(topics: Topics, test_text: str) -> Iterable[tuple[str, Entity]]:
    for name, title, verb, icon in (
        ("stop", "Stop", "stop", "mdi:stop"),
        ("clear_queue", "Clear queue", "clear", "mdi:playlist-remove"),
        ("replay", "Replay", "replay", "mdi:replay"),
    ):
        yield name, {"p": "button", "name": title, "ic": icon, "cmd_t": f"{topics.own}/command/{verb}"}
    test = {"cmd_t": f"{topics.own}/say", "pl_prs": test_text, "ent_cat": "diagnostic"}
    yield "test", {"p": "button", "name": "Test", "ic": "mdi:volume-source"} | test


def _sensors(topics: Topics) -> Iterable[tuple[str, Entity]]:
    def sensor(title: str, value: str) -> Entity:
        return {"p": "sensor", "name": title, "stat_t": topics.state, "val_tpl": f"{{{{ {value} }}}}"}

    status = {"dev_cla": "enum", "ops": list(STATUSES), "ic": "mdi:bullhorn"}
    yield "status", sensor("Status", "value_json.status") | status
    waiting = {"stat_cla": "measurement", "ic": "mdi:tray-full"}
    yield "queue_length", sensor("Queue length", "value_json.queue_length") | waiting
    last = {"json_attr_t": topics.state, "json_attr_tpl": "{{ (value_json.last or {}) | to_json }}"}
    yield (
        "last_text",
        sensor("Last text", f"({_LAST_TEXT} or 'None')[:{MAX_STATE_LENGTH}]")
        | last
        | {"ic": "mdi:message-text"},
    )
    duration = {"dev_cla": "duration", "unit_of_meas": "s", "sug_dsp_prc": 1, "ent_cat": "diagnostic"}
    yield "last_duration", sensor("Last duration", "(value_json.last or {}).get('duration_s')") | duration
    speaking = sensor("Speaking", "'ON' if value_json.status == 'speaking' else 'OFF'")
    running = {"p": "binary_sensor", "dev_cla": "running", "ic": "mdi:account-voice"}
    yield "speaking", speaking | running


def _diagnostics(topics: Topics) -> Iterable[tuple[str, Entity]]:
    def diagnostic(device_class: str, value: str) -> Entity:
        common = {"p": "sensor", "ent_cat": "diagnostic", "stat_t": topics.state, "stat_cla": "measurement"}
        return common | {"dev_cla": device_class, "val_tpl": f"{{{{ {value} }}}}"}

    def problem(value: str, attributes: str) -> Entity:
        told = {"json_attr_t": topics.state, "json_attr_tpl": f"{{{{ {attributes} | to_json }}}}"}
        wrong = {"val_tpl": f"{{{{ 'ON' if {value} else 'OFF' }}}}", "dev_cla": "problem"}
        return {"p": "binary_sensor", "ent_cat": "diagnostic", "stat_t": topics.state} | wrong | told

    heat = {"unit_of_meas": "°C", "sug_dsp_prc": 1}
    yield "temperature", diagnostic("temperature", "value_json.temperature_c") | heat
    for name, title, field, icon in (
        ("memory_available", "Memory available", "memory_available_bytes", "mdi:memory"),
        ("outputs_size", "Outputs size", "outputs_bytes", "mdi:folder-music"),
    ):
        mebibytes = f"value_json.{field} // 1048576 if value_json.{field} is number else none"
        size = {"name": title, "ic": icon, "unit_of_meas": "MiB", "sug_dsp_prc": 0}
        yield name, diagnostic("data_size", mebibytes) | size
    yield "problem", problem("value_json.problems", "{'problems': value_json.problems}")
    why = "{'level': value_json.throttle, 'reason': value_json.throttle_reason}"
    yield "throttled", problem("value_json.throttle != 'normal'", why) | {"name": "Throttled"}
