"""What Home Assistant is told: ids, topics and limits. Its own schemas judge it in tests/homeassistant."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon import styles
from daemon.homeassistant import discovery
from daemon.mqtt.controls import SETTINGS, VERBS
from daemon.mqtt.intake import OFF_WORDS, ON_WORDS
from daemon.mqtt.messages import Event, State
from daemon.mqtt.topics import Command, Say, Set, TopicError, Topics

KITCHEN = Topics("cosyvoice", "kitchen")
VOICES = ("heart", "zf_xiaoyi", "mama")


def message(
    topics: Topics = KITCHEN,
    voices: tuple[str, ...] = VOICES,
    max_text_length: int = 200,
    language: str = "en",
) -> dict[str, Any]:
    return discovery.message(topics, voices, max_text_length, language)


def entity(key: str, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = message(**options)["cmps"][key]
    return found


def test_only_availability_is_common_to_all_entities() -> None:
    told = message()
    assert set(told) == {"dev", "o", "avty", "cmps"}
    assert told["avty"] == [{"t": "cosyvoice/kitchen/availability"}]
    assert told["dev"]["ids"] == ["cosyvoiced_kitchen"]
    assert len(told["cmps"]) == 21


def test_every_command_is_one_that_the_device_takes() -> None:
    asked = {key: KITCHEN.classify(e["cmd_t"]) for key, e in message()["cmps"].items() if "cmd_t" in e}
    assert [key for key, what in asked.items() if what == Say()] == ["notify_say", "text_say", "button_test"]
    verbs = {what.verb for what in asked.values() if isinstance(what, Command)}
    assert verbs == {"stop", "clear", "replay"} <= set(VERBS)
    assert {what.name for what in asked.values() if isinstance(what, Set)} == set(SETTINGS)
    assert None not in asked.values()


def test_every_state_comes_from_a_topic_of_the_contract() -> None:
    own = {KITCHEN.state, KITCHEN.result, *(KITCHEN.settings(name) for name in SETTINGS)}
    assert {e["stat_t"] for e in message()["cmps"].values() if "stat_t" in e} == own
    for e in message()["cmps"].values():
        if e.get("stat_t") == KITCHEN.state:
            assert set(re.findall(r"value_json\.(\w+)", e["val_tpl"])) <= set(State.__struct_fields__)


def test_ids_are_unique_and_predictable() -> None:
    entities = message()["cmps"]
    assert len({e["uniq_id"] for e in entities.values()}) == len(entities)
    assert entities["notify_say"]["def_ent_id"] == "notify.kitchen_say"
    assert entities["binary_sensor_throttled"]["def_ent_id"] == "binary_sensor.kitchen_throttled"
    living_room = message(Topics("cosyvoice", "Living-Room.2"))["cmps"]
    assert living_room["select_voice"]["def_ent_id"] == "select.living_room_2_voice"
    assert "def_ent_id" not in message(Topics("cosyvoice", "客厅"))["cmps"]["select_voice"]


def test_a_choice_is_never_called_none() -> None:
    voice = entity("select_voice", voices=("heart", "None", "妈妈", "heart"))
    assert voice["ops"] == ["auto", "heart", "妈妈"]
    assert voice["val_tpl"] == '{{ value if value in ["auto", "heart", "妈妈"] else none }}'
    assert entity("select_style")["ops"] == list(styles.PRESETS)


def test_the_text_box_takes_what_can_be_said() -> None:
    assert entity("text_say", max_text_length=200)["max"] == 200
    assert entity("text_say", max_text_length=2000)["max"] == 255


def test_the_switch_speaks_as_the_setting_does() -> None:
    switch = entity("switch_do_not_disturb")
    assert switch["pl_on"].lower() in ON_WORDS
    assert switch["pl_off"].lower() in OFF_WORDS


def test_events_are_those_that_somebody_waits_for() -> None:
    kinds = entity("event_announcement")["evt_typ"]
    assert kinds == [kind for kind in Event if kind.is_final or kind == Event.STARTED]


@pytest.mark.parametrize(
    ("language", "word"), [("zh", "测试"), ("ja", "テスト"), ("en", "test"), ("de", "test")]
)
def test_the_test_button_speaks_the_language_of_the_configuration(language: str, word: str) -> None:
    assert word in entity("button_test", language=language)["pl_prs"]


@given(st.text(min_size=1, max_size=64))
def test_the_topic_of_any_node_is_one_that_home_assistant_reads(node: str) -> None:
    matcher = r"homeassistant/device/[a-zA-Z0-9_-]+/config"  # homeassistant/components/mqtt/discovery.py
    assert re.fullmatch(matcher, discovery.topic("homeassistant", node))


@pytest.mark.parametrize(
    ("one", "other"), [("客厅", "卧室"), ("a.b", "a_b"), ("a b", "a.b"), ("Küche", "K_che"), ("a", "A")]
)
def test_two_nodes_are_two_devices(one: str, other: str) -> None:
    assert discovery.device_id(one) != discovery.device_id(other)


@pytest.mark.parametrize("prefix", ["cosyvoice", "home/#", "", "a//b", "$SYS"])
def test_a_prefix_that_cannot_be_used_is_told(prefix: str) -> None:
    with pytest.raises(TopicError):
        discovery.check_prefix(prefix, "cosyvoice")


def test_a_message_is_small_enough_for_every_broker() -> None:
    assert len(json.dumps(message(voices=tuple(f"voice-{n}" for n in range(100))))) < 16_000
