"""What Home Assistant's users copy: it loads, names entities that exist, and is taken by the daemon."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jinja2
import pytest
import yaml

from daemon import configfile
from daemon.audio import chime
from daemon.homeassistant import discovery
from daemon.jobs.job import Job, Priority
from daemon.mqtt import topics as topic_tree
from daemon.mqtt.intake import Envelope, parse_say
from daemon.mqtt.topics import Topics
from daemon.synthesis import facts
from tests.jobs.samples import FakeClock
from tests.mqtt.test_intake import DEFAULTS
from tests.test_readme import blocks

DOCS = Path(__file__).parents[1] / "docs"
HOME = DOCS / "home-assistant"
FILES = sorted(HOME.rglob("*.yaml"))
AUTOMATIONS, SCRIPTS = sorted(HOME.glob("automations/*.yaml")), sorted(HOME.glob("scripts/*.yaml"))
ENGLISH, CHINESE = ((HOME / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh.md"))
TOPICS = Topics("cosyvoice", "kitchen")
NASTY = 'It\'s "so":\n21 °C, {{ 晚饭 }}'


class HomeAssistantLoader(yaml.SafeLoader):
    """Reads `!input name` as an `Input`."""


class Input(str):
    """The name of a blueprint's input."""


def _input(loader: HomeAssistantLoader, node: yaml.ScalarNode) -> Input:
    return Input(loader.construct_scalar(node))


HomeAssistantLoader.add_constructor("!input", _input)


def load(path: Path) -> dict[str, Any]:
    data = yaml.load(path.read_text(encoding="utf-8"), HomeAssistantLoader)
    assert isinstance(data, dict)
    return data


def mappings(data: Any) -> Iterator[dict[str, Any]]:
    """All mappings in it, however deep."""
    if isinstance(data, dict):
        yield data
    for value in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from mappings(value)


def rendered(template: str, **fields: Any) -> str:
    """A template with as much of Home Assistant as the examples use."""
    environment = jinja2.Environment(undefined=jinja2.ChainableUndefined)
    environment.filters["to_json"] = lambda value: json.dumps(value, ensure_ascii=False)
    environment.globals["now"] = lambda: datetime(2026, 11, 30, 8, tzinfo=UTC)
    return environment.from_string(template).render(**fields)


def job_of(text: str, topic: str = f"{TOPICS.own}/say") -> Job:
    """What the daemon makes of a payload, if it listens to the topic."""
    asked = TOPICS.classify(topic)
    assert isinstance(asked, topic_tree.Say), topic
    defaults = DEFAULTS._replace(voices=facts.builtin().voices, chimes=chime.names())
    return parse_say(text.encode(), Envelope(topic, asked.style), defaults, FakeClock()())


def jobs_of(data: dict[str, Any], **fields: Any) -> list[Job]:
    """All announcements that an automation or a script makes."""
    found = []
    for step in mappings(data):
        if step.get("action") == "mqtt.publish":
            assert step["data"]["qos"] == 1
            found.append(job_of(rendered(step["data"]["payload"], **fields), step["data"]["topic"]))
        elif step.get("action") == "notify.send_message":
            found.append(job_of(rendered(step["data"]["message"], **fields)))
    return found


def entity_ids() -> set[str]:
    message = discovery.message(TOPICS, ["heart"], 200, "en")
    return {entity["def_ent_id"] for entity in message["cmps"].values()}


@pytest.mark.parametrize("path", AUTOMATIONS, ids=lambda path: path.stem)
def test_automations_are_whole_and_their_announcements_are_accepted(path: Path) -> None:
    data = load(path)
    assert set(data) - {"conditions"} == {"alias", "triggers", "actions", "mode"}
    assert all("trigger" in trigger for trigger in data["triggers"])
    for trigger in data["triggers"]:
        jobs = jobs_of(data, trigger=SimpleNamespace(**trigger), repeat=SimpleNamespace(index=1))
        assert len(jobs) == 1


def test_the_fire_alarm_cuts_in_and_the_bell_is_not_late() -> None:
    (alarm,) = jobs_of(load(HOME / "automations" / "fire_alarm.yaml"))
    assert (alarm.priority, alarm.chime, alarm.repeat) == (Priority.IMPORTANT, "alert", 2)
    bell = jobs_of(load(HOME / "automations" / "school_bell.yaml"), trigger=SimpleNamespace(id="Break."))[0]
    assert (bell.text, bell.chime, bell.ttl_s) == ("Break.", "bell", 30)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_are_whole_and_take_any_message(path: Path) -> None:
    data = load(path)
    assert set(data) - {"variables"} == {"alias", "fields", "sequence", "mode", "max"}
    fields = {name: rendered(value) for name, value in data.get("variables", {}).items()}
    for job in jobs_of(data, message=NASTY, **fields):
        assert job.text.startswith('It\'s "so":')
        assert "21 °C" in job.text
        assert job.id == fields.get("id", job.id)


def test_voice_style_and_chime_may_be_left_out_or_empty() -> None:
    data = load(HOME / "scripts" / "say.yaml")
    (plain,) = jobs_of(data, message="Hi", voice="", style="")
    assert (plain.voice, plain.style, plain.chime) == (None, "neutral", None)
    (styled,) = jobs_of(data, message="Hi", voice="heart", style="happy", chime=True)
    assert (styled.voice, styled.style, styled.chime) == ("heart", "happy", "gong")


def test_the_blueprint_asks_for_what_it_uses() -> None:
    data = load(HOME / "blueprints" / "announce.yaml")
    blueprint = data.pop("blueprint")
    assert blueprint["domain"] == "automation"
    assert set(data) == {"triggers", "actions", "mode", "max"}
    used = {value for step in mappings(data) for value in step.values() if isinstance(value, Input)}
    assert used == set(blueprint["input"])
    assert all({"name", "selector"} <= set(asked) for asked in blueprint["input"].values())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_is_explained_in_both_languages_and_in_the_list(path: Path) -> None:
    head = re.match(r"(?:#.*\n)+", path.read_text(encoding="utf-8"))
    assert head is not None
    assert re.search(r"[a-z]{4}", head[0])
    assert re.search(r"[\u4e00-\u9fff]{2}", head[0])
    for text in (ENGLISH, CHINESE):
        assert f"]({path.relative_to(HOME)})" in text


def test_every_entity_of_the_speaker_exists() -> None:
    texts = [path.read_text(encoding="utf-8") for path in FILES]
    for text in (ENGLISH, CHINESE, *texts):
        named = set(re.findall(r"\b[a-z_]+\.kitchen_\w+", text))
        assert named <= entity_ids()
    assert load(HOME / "dashboard" / "card.yaml")["type"] == "entities"


@pytest.mark.parametrize("text", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_the_five_steps_hold_a_configuration_and_an_automation(text: str, tmp_path: Path) -> None:
    assert [int(number) for number in re.findall(r"^## (\d)\. ", text, re.MULTILINE)] == [1, 2, 3, 4, 5]
    configuration, automation = blocks(text, "yaml")
    password = tmp_path / "mqtt-password"
    password.write_text("secret")
    config = configfile.parse(configuration.replace("mqtt-password", str(password)), ready=False)
    assert (config.mqtt.broker, config.mqtt.node) == ("external", "kitchen")
    (job,) = jobs_of(yaml.safe_load(automation))
    assert job.text == "Good morning. It is 8 o'clock."
    wyoming = re.findall(r"`(wyoming: \{.*?\})`", text)
    assert configfile.parse(wyoming[0], ready=False).wyoming.enabled


@pytest.mark.parametrize("name", ["home-assistant/README", "hermes"])
def test_both_languages_have_the_same_shape(name: str) -> None:
    english, chinese = ((DOCS / f"{name}{end}").read_text(encoding="utf-8") for end in (".md", ".zh.md"))
    for kind in ("bash", "yaml"):
        assert blocks(english, kind) == blocks(chinese, kind)
    for pattern in (r"^#+ ", r"^\|", r"^- ", r"^\d\. "):
        counts = [len(re.findall(pattern, text, re.MULTILINE)) for text in (english, chinese)]
        assert counts[0] == counts[1], pattern


@pytest.mark.parametrize("path", [*HOME.glob("*.md"), *DOCS.glob("hermes*.md")], ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


def test_the_example_of_hermes_is_a_configuration() -> None:
    (example,) = blocks((DOCS / "hermes.md").read_text(encoding="utf-8"), "yaml")
    assert configfile.parse(example) == configfile.parse("hermes: {enabled: true, site_id: kitchen}")
