"""What a Hermes message asks of this site. Pure functions of topic and payload."""

import json
import logging
import math
import re
from typing import Any, NamedTuple

from daemon.errors import AnnouncementError
from daemon.hermes.messages import SAY, TOGGLE_OFF, TOGGLE_ON, Asker, play_topic
from daemon.mqtt import payload as payloads
from daemon.mqtt.intake import MAX_ID_LENGTH

log = logging.getLogger(__name__)

ANY_SITE = "default"  # the site of a message that names none, by Rhasspy's definition


class Say(NamedTuple):
    """Say this; `payload` is a request in the daemon's own words."""

    payload: bytes
    asker: Asker


class Play(NamedTuple):
    """Play the payload, a WAV file."""

    asker: Asker


class Toggle(NamedTuple):
    """Turn the sound of this site on or off."""

    on: bool


Asked = Say | Play | Toggle


def subscriptions(site_id: str) -> tuple[str, ...]:
    """Every topic filter that a site listens to."""
    return (SAY, f"{play_topic(site_id)}/+", TOGGLE_ON, TOGGLE_OFF)


def read(topic: str, payload: bytes, site_id: str) -> Asked | None:
    """What a message asks of this site; None for another site's, and for what nobody can read."""
    parent, _, request_id = topic.rpartition("/")
    if parent == play_topic(site_id) and request_id:
        return Play(Asker(kind="play", site_id=site_id, id=request_id[:MAX_ID_LENGTH]))
    if topic not in (SAY, TOGGLE_ON, TOGGLE_OFF):
        return None
    try:
        fields = payloads.fields(payload)
    except AnnouncementError as error:  # it does not tell its site, so nobody answers
        log.warning("a message on %s is left alone: %s", topic, error)
        return None
    if (fields.get("siteId") or ANY_SITE) != site_id:
        return None
    if topic == SAY:
        return Say(_request(fields), _asker(fields, site_id))
    return Toggle(on=topic == TOGGLE_ON)


def _asker(fields: dict[str, Any], site_id: str) -> Asker:
    return Asker(
        kind="say", site_id=site_id, id=_name(fields.get("id")), session_id=_name(fields.get("sessionId"))
    )


def _name(value: Any) -> str | None:
    """An id to be given back; the journal keeps it, so it has the length of our own ids at most."""
    return payloads.encodable(value[:MAX_ID_LENGTH]) if isinstance(value, str) else None


def _request(fields: dict[str, Any]) -> bytes:
    """The same request as `<n>/say` takes it. Its id is made up: Hermes' ids may come again."""
    request = {
        "text": fields.get("text"),
        "language": _language(fields.get("lang")),
        "volume": _volume(fields.get("volume")),
    }
    return json.dumps({name: value for name, value in request.items() if value is not None}).encode()


def _language(lang: Any) -> str | None:
    """`en` of `en-US` and `en_GB`; what is no language is left to the guess."""
    found = re.match(r"[a-z]{2,3}(?![a-z])", lang.lower()) if isinstance(lang, str) else None
    return found[0] if found else None


def _volume(factor: Any) -> int | None:
    """Rhasspy's factor on the samples, 0.0 to 1.0, on the daemon's cubic scale (`daemon.audio.track`)."""
    try:
        number = float(factor)
    except (TypeError, ValueError, OverflowError):
        return None
    return round(100 * min(max(number, 0.0), 1.0) ** (1 / 3)) if math.isfinite(number) else None
