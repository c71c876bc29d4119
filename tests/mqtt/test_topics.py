"""Topics: what is listened to, and what each asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.mqtt.topics import Command, Say, Set, TopicError, Topics, check_publishable, node_from_host

KITCHEN = Topics("cosyvoice", "kitchen", ("ground-floor",))


def test_a_device_listens_to_its_own_its_groups_and_everybodys_topics() -> None:
    assert KITCHEN.subscriptions == (
        "cosyvoice/kitchen/say",
        "cosyvoice/kitchen/say/+",
        "cosyvoice/kitchen/command/+",
        "cosyvoice/kitchen/set/+",
        "cosyvoice/all/say",
        "cosyvoice/group/ground-floor/say",
    )


def test_the_topics_a_device_writes_to() -> None:
    assert KITCHEN.result == "cosyvoice/kitchen/result"
    assert KITCHEN.state == "cosyvoice/kitchen/state"
    assert KITCHEN.availability == "cosyvoice/kitchen/availability"
    assert KITCHEN.voices == "cosyvoice/kitchen/voices"
    assert KITCHEN.styles == "cosyvoice/kitchen/styles"
    assert KITCHEN.settings("volume") == "cosyvoice/kitchen/settings/volume"


@pytest.mark.parametrize(
    ("topic", "meaning"),
    [
        ("cosyvoice/kitchen/say", Say()),
        ("cosyvoice/kitchen/say/happy", Say("happy")),
        ("cosyvoice/group/ground-floor/say", Say()),
        ("cosyvoice/all/say", Say()),
        ("cosyvoice/kitchen/command/stop", Command("stop")),
        ("cosyvoice/kitchen/set/volume", Set("volume")),
        ("cosyvoice/group/attic/say", None),
        ("cosyvoice/group/ground-floor/say/happy", None),
        ("cosyvoice/garage/say", None),
        ("cosyvoice/kitchen/say/", None),
        ("cosyvoice/kitchen/say/a/b", None),
        ("cosyvoice/kitchen/command", None),
        ("cosyvoice/kitchen/result", None),
        ("cosyvoice/kitchen", None),
        ("x/cosyvoice/kitchen/say", None),
        ("", None),
    ],
)
def test_what_a_topic_asks_for(topic: str, meaning: Say | Command | Set | None) -> None:
    assert KITCHEN.classify(topic) == meaning


def test_the_base_topic_may_have_several_levels() -> None:
    deep = Topics("home/voice", "küche")
    assert deep.classify("home/voice/küche/say") == Say()
    assert deep.classify("home/voice/all/say") == Say()


@pytest.mark.parametrize("name", ["", "a/b", "a+", "#", "$SYS", "a\x00", "a\n", "\ud800", "x" * 65])
def test_names_that_mqtt_cannot_carry_are_refused(name: str) -> None:
    with pytest.raises(TopicError, match="node"):
        Topics("cosyvoice", name)
    with pytest.raises(TopicError, match="group"):
        Topics("cosyvoice", "kitchen", (name,))


@pytest.mark.parametrize("base", ["", "/a", "a/", "a//b", "a/#", "$share/a"])
def test_base_topics_that_mqtt_cannot_carry_are_refused(base: str) -> None:
    with pytest.raises(TopicError, match="base topic"):
        Topics(base, "kitchen")


@pytest.mark.parametrize("node", ["all", "group"])
def test_a_node_cannot_have_the_name_of_everybody(node: str) -> None:
    with pytest.raises(TopicError, match="addresses other devices"):
        Topics("cosyvoice", node)


@pytest.mark.parametrize(
    ("host", "node"),
    [
        ("raspberrypi", "raspberrypi"),
        ("kitchen.local", "kitchen"),
        ("living room+1", "living-room-1"),
        ("厨房", "厨房"),
        ("", "speaker"),
        ("###", "speaker"),
        ("all", "all-speaker"),
    ],
)
def test_a_host_name_becomes_a_node_name(host: str, node: str) -> None:
    assert node_from_host(host) == node


@given(st.text(max_size=200))
def test_any_host_name_becomes_a_node_name_that_is_valid(host: str) -> None:
    Topics("cosyvoice", node_from_host(host))


@given(st.text(st.characters(exclude_characters="/+#", categories=["L", "N"]), min_size=1, max_size=64))
def test_every_style_in_a_topic_is_found_again(style: str) -> None:
    assert KITCHEN.classify(f"cosyvoice/kitchen/say/{style}") == Say(style)


def test_a_topic_is_publishable_up_to_the_length_that_mqtt_allows() -> None:
    check_publishable("a" * 65535)
    for topic in ("a" * 65536, "a/+", "", "$SYS/broker", "\ud800"):
        with pytest.raises(TopicError):
            check_publishable(topic)
