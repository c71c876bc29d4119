"""What a Hermes message asks of a site."""

import json
from typing import Any

import pytest

from daemon.hermes.intake import Play, Say, Toggle, read, subscriptions
from daemon.hermes.messages import Asker
from daemon.jobs.job import Job
from daemon.mqtt.intake import Envelope, Refused, parse_say
from tests.jobs.samples import FakeClock
from tests.mqtt.test_intake import DEFAULTS

SITE = "kitchen"


def said(site: str = SITE, **fields: Any) -> Say | None:
    asked = read("hermes/tts/say", json.dumps(fields).encode(), site)
    assert asked is None or isinstance(asked, Say)
    return asked


def job_of(**fields: Any) -> Job:
    asked = said(siteId=SITE, **fields)
    assert asked is not None
    return parse_say(asked.payload, Envelope(topic="hermes/tts/say"), DEFAULTS, FakeClock()())


def test_a_request_of_the_site_is_a_request_as_our_own_topics_take_it() -> None:
    job = job_of(text="Dinner is ready", lang="en_US", id="a", sessionId="b", volume=0.5, extra=1)
    assert (job.text, job.language, job.priority) == ("Dinner is ready", "en", "message")
    assert job.id != "a"  # Hermes' ids may come again, and are no duplicates


def test_the_ids_are_kept_for_the_answer() -> None:
    asked = said(siteId=SITE, text="hi", id="a", sessionId="b")
    assert asked is not None
    assert asked.asker == Asker(kind="say", site_id=SITE, id="a", session_id="b")


@pytest.mark.parametrize("value", [7, None, ["a"], "\ud800" * 3, "x" * 10_000])
def test_odd_ids_do_no_harm(value: Any) -> None:
    asked = said(siteId=SITE, text="hi", id=value)
    assert asked is not None
    name = asked.asker.id
    assert name is None or len(name.encode()) <= 128


@pytest.mark.parametrize(
    ("lang", "language"),
    [("zh-CN", "zh"), ("de", "de"), ("EN", "en"), ("", "en"), ("Englisch", "en"), (5, "en"), (None, "en")],
)
def test_languages(lang: Any, language: str) -> None:
    assert job_of(text="Good morning", lang=lang).language == language


@pytest.mark.parametrize(
    ("factor", "volume"),
    [(1.0, 100), (0.5, 79), (0, 0), (-3, 0), (9, 100), ("0.125", 50), (None, None), ("loud", None)],
)
def test_a_factor_on_the_samples_becomes_the_volume_that_scales_them_so(factor: Any, volume: Any) -> None:
    assert job_of(text="Good morning", volume=factor).volume == volume


@pytest.mark.parametrize("text", [None, "", 5, ["a"], "…", "x" * 500, "\ud800"])
def test_what_cannot_be_said_is_refused_by_the_intake(text: Any) -> None:
    with pytest.raises(Refused):
        job_of(text=text)


@pytest.mark.parametrize("fields", [{"siteId": "hall"}, {"siteId": ["kitchen"]}, {"siteId": 5}, {}])
def test_other_sites_are_left_alone(fields: dict[str, Any]) -> None:
    assert said(text="hi", **fields) is None


@pytest.mark.parametrize("fields", [{}, {"siteId": None}, {"siteId": "default"}])
def test_who_names_no_site_means_the_default_one(fields: dict[str, Any]) -> None:
    assert said(site="default", text="hi", **fields) is not None


@pytest.mark.parametrize("payload", [b"", b"\xff\xfe", b"{", b"[1]", b"{]", b"\0", b"{" * 100_000])
@pytest.mark.parametrize("topic", ["hermes/tts/say", "hermes/audioServer/toggleOff"])
def test_garbage_is_nobodys(topic: str, payload: bytes) -> None:
    assert read(topic, payload, SITE) is None


def test_sounds_name_site_and_request_in_their_topic() -> None:
    assert read("hermes/audioServer/kitchen/playBytes/r1", b"", SITE) == Play(
        Asker(kind="play", site_id=SITE, id="r1")
    )
    for topic in ("hall/playBytes/r1", "kitchen/playBytes/", "kitchen/playBytes", "kitchen/playBytes/a/b"):
        assert read(f"hermes/audioServer/{topic}", b"", SITE) is None


def test_the_sound_is_turned_off_and_on() -> None:
    payload = b'{"siteId": "kitchen"}'
    assert read("hermes/audioServer/toggleOff", payload, SITE) == Toggle(on=False)
    assert read("hermes/audioServer/toggleOn", payload, SITE) == Toggle(on=True)


def test_only_what_is_of_use_is_subscribed_to() -> None:
    assert subscriptions(SITE) == (
        *("hermes/tts/say", "hermes/audioServer/kitchen/playBytes/+"),
        *("hermes/audioServer/toggleOn", "hermes/audioServer/toggleOff"),
    )
