"""What is answered to those who ask in Rhasspy's words.

Rhasspy's own services tell the end of everything, of what failed too, after the error; whoever asked
waits for it and listens to nobody meanwhile. Here the end is told when the loudspeaker is done.
"""

import json
from typing import Any, Literal, NamedTuple

import msgspec

from daemon.mqtt.messages import Event, Result

SAY = "hermes/tts/say"
SAY_FINISHED = "hermes/tts/sayFinished"
SAY_ERROR = "hermes/error/tts"
TOGGLE_ON = "hermes/audioServer/toggleOn"
TOGGLE_OFF = "hermes/audioServer/toggleOff"
PLAY_ERROR = "hermes/error/audioServer/play"


class Asker(msgspec.Struct, frozen=True, kw_only=True):
    """Who waits for an answer, and by which names the request goes there."""

    kind: Literal["say", "play"]
    site_id: str
    id: str | None = None
    session_id: str | None = None


class Answer(NamedTuple):
    topic: str
    payload: bytes


def play_topic(site_id: str) -> str:
    """Where sounds for a site come in; the last level is the request's id."""
    return f"hermes/audioServer/{site_id}/playBytes"


def answers(asker: Asker, result: Result) -> tuple[Answer, ...]:
    """What to publish of a result, in this order: at the end, and with an error where it was not heard."""
    if not result.event.is_final:
        return ()
    finished = _finished(asker)
    return (finished,) if result.event == Event.FINISHED else (_error(asker, result), finished)


def _finished(asker: Asker) -> Answer:
    names = {"id": asker.id, "sessionId": asker.session_id}
    if asker.kind == "say":
        return _answer(SAY_FINISHED, {"siteId": asker.site_id, **names})
    return _answer(f"hermes/audioServer/{asker.site_id}/playFinished", names)


def _error(asker: Asker, result: Result) -> Answer:
    fields = {
        "error": result.message or result.event,
        "siteId": asker.site_id,
        "context": asker.id,
        "sessionId": asker.session_id,
    }
    return _answer(SAY_ERROR if asker.kind == "say" else PLAY_ERROR, fields)


def _answer(topic: str, fields: dict[str, Any]) -> Answer:
    """As escaped JSON: an id may hold what UTF-8 cannot carry, half of a surrogate pair."""
    return Answer(topic, json.dumps(fields).encode())
