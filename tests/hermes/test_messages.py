"""What is answered in Rhasspy's words."""

import json

import msgspec
import pytest

from daemon.errors import Code
from daemon.hermes.messages import Asker, answers
from daemon.mqtt.messages import Event, Result

SAY = Asker(kind="say", site_id="kitchen", id="r1", session_id="s1")
PLAY = Asker(kind="play", site_id="kitchen", id="r1")
FINISHED = Result(id="x", event=Event.FINISHED, at="")
FAILED = msgspec.structs.replace(
    FINISHED, event=Event.FAILED, code=Code.AUDIO_DEVICE, message="no sound output"
)


def told(asker: Asker, result: Result) -> list[tuple[str, object]]:
    return [(answer.topic, json.loads(answer.payload)) for answer in answers(asker, result)]


def test_what_was_heard_is_finished() -> None:
    assert told(SAY, FINISHED) == [
        ("hermes/tts/sayFinished", {"siteId": "kitchen", "id": "r1", "sessionId": "s1"})
    ]
    assert told(PLAY, FINISHED) == [
        ("hermes/audioServer/kitchen/playFinished", {"id": "r1", "sessionId": None})
    ]


def test_an_error_comes_before_the_end() -> None:
    error = {"error": "no sound output", "siteId": "kitchen", "context": "r1", "sessionId": "s1"}
    assert told(SAY, FAILED)[0] == ("hermes/error/tts", error)
    assert [topic for topic, _ in told(SAY, FAILED)] == ["hermes/error/tts", "hermes/tts/sayFinished"]
    assert [topic for topic, _ in told(PLAY, FAILED)] == [
        *("hermes/error/audioServer/play", "hermes/audioServer/kitchen/playFinished")
    ]


@pytest.mark.parametrize("event", list(Event))
def test_every_end_is_told_and_nothing_before(event: Event) -> None:
    topics = [topic for topic, _ in told(SAY, msgspec.structs.replace(FINISHED, event=event))]
    assert topics[-1:] == (["hermes/tts/sayFinished"] if event.is_final else [])
    assert ("hermes/error/tts" in topics) == (event.is_final and event != Event.FINISHED)
