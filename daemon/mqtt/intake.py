"""From a delivered payload to a job, or to one clear error with its code. Pure functions of their input."""

import hashlib
import json
import secrets
from collections.abc import Collection
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from cosyvoice.text import annotations, cleanup, language
from daemon import styles, wording
from daemon.clock import Moment
from daemon.config import LanguageCode
from daemon.errors import AnnouncementError, Code
from daemon.jobs.job import Job, Output, Priority
from daemon.mqtt import payload as payloads
from daemon.mqtt.payload import encodable, shortened
from daemon.mqtt.topics import TopicError, check_publishable

MAX_ID_LENGTH = 128
ON_WORDS = ("on", "true", "1", "yes")
OFF_WORDS = ("off", "false", "0", "no")
# What JavaScript and Python make of a missing value; `Nan` may be somebody's grandmother.
_MISSING_VALUES = ("undefined", "nan", "NaN", "[object Object]")


class Defaults(NamedTuple):
    """What a request gets where it says nothing: the configuration and the settings in force."""

    style: str
    voice: str | None
    language: str
    seed: int
    chime: str | None
    default_chime: str
    ttl_s: float
    max_text_length: int
    voices: Collection[str]
    chimes: Collection[str]
    base_topic: str


class Envelope(NamedTuple):
    """What the broker says of a delivery besides its payload."""

    topic: str
    topic_style: str | None = None
    message_expiry_s: float | None = None
    response_topic: str | None = None
    correlation_data: bytes | None = None
    mid: int = 0


class Refused(AnnouncementError):
    """The request ends in `rejected`; it keeps the id and reply topic as far as they could be read."""

    def __init__(self, error: AnnouncementError, request_id: str, reply_to: str | None) -> None:
        super().__init__(error.code, encodable(error.message))  # it may quote half of a surrogate pair
        self.request_id = request_id
        self.reply_to = reply_to


# Each field's type; `text`, `style` and `voice` have errors of their own.
FIELDS: dict[str, Any] = {
    "text": str,
    "style": str,
    "voice": str,
    "language": LanguageCode,
    "seed": Annotated[int, Meta(ge=0, le=2**32 - 1)],
    "speed": Annotated[float, Meta(ge=0.5, le=2.0, description="a number from 0.5 to 2.0")],
    "volume": Annotated[int, Meta(ge=0, le=100)],
    "priority": Priority,
    "chime": Annotated[bool | str, Meta(description="true, false or a chime's name")],
    "repeat": Annotated[int, Meta(ge=1, le=10)],
    "repeat_pause_s": Annotated[float, Meta(ge=0, le=60)],
    "ttl_s": Annotated[float, Meta(ge=1, le=86400)],
    "output": Output,
    "id": Annotated[str, Meta(min_length=1, max_length=MAX_ID_LENGTH)],
    "reply_to": Annotated[str, Meta(description="a topic")],
}


def parse_say(payload: bytes, envelope: Envelope, defaults: Defaults, now: Moment) -> Job:
    """The job that a `say` payload asks for.

    Raises:
        Refused: with the code of the first fault found.
    """
    fields: dict[str, Any] = {}
    try:
        fields = payloads.fields(payload)
        payloads.check(fields, FIELDS)
        return _job(fields, payload, envelope, defaults, now)
    except AnnouncementError as error:
        request_id = fields.get("id")
        if not isinstance(request_id, str) or not 1 <= len(request_id) <= MAX_ID_LENGTH:
            request_id = make_id()
        reply_to = fields.get("reply_to") or envelope.response_topic
        if not isinstance(reply_to, str) or not _is_reply_topic(reply_to, defaults.base_topic):
            reply_to = None
        raise Refused(error, encodable(request_id), reply_to) from error


def make_id() -> str:
    return secrets.token_hex(6)


def fingerprint(envelope: Envelope, payload: bytes) -> str:
    """The same for a delivery and its repetition: the broker keeps topic, payload and packet id."""
    digest = hashlib.sha256(payload).hexdigest()[:32]
    return f"{envelope.topic}|{envelope.mid}|{digest}"


def _job(fields: dict[str, Any], payload: bytes, envelope: Envelope, defaults: Defaults, now: Moment) -> Job:
    text = _text(fields, defaults.max_text_length)
    values = {
        name: _value(name, value) for name, value in fields.items() if name != "text" and value is not None
    }
    voice = _voice(values.get("voice"), defaults)
    spoken_language = values.get("language") or language.guess(text, defaults.language)
    ttl_s = values.get("ttl_s", defaults.ttl_s)
    if envelope.message_expiry_s is not None:
        ttl_s = min(ttl_s, max(1.0, envelope.message_expiry_s))
    reply_to = values.get("reply_to") or envelope.response_topic
    if reply_to is not None and not _is_reply_topic(reply_to, defaults.base_topic):
        raise AnnouncementError(
            Code.OUT_OF_RANGE, f"reply_to: '{shortened(reply_to)}' is not a topic to reply to"
        )
    return Job(
        id=values.get("id") or make_id(),
        text=text,
        language=spoken_language,
        style=_style(values.get("style") or envelope.topic_style or defaults.style),
        voice=voice,
        seed=values.get("seed", defaults.seed),
        speed=values.get("speed", 1.0),
        volume=values.get("volume"),
        priority=values.get("priority", Priority.MESSAGE),
        chime=_chime(values.get("chime"), defaults),
        repeat=values.get("repeat", 1),
        repeat_pause_s=values.get("repeat_pause_s", 1.0),
        ttl_s=ttl_s,
        output=values.get("output", "both"),
        reply_to=reply_to,
        correlation_data=envelope.correlation_data,
        accepted_at=now,
        fingerprint=fingerprint(envelope, payload),
    )


def _text(fields: dict[str, Any], max_length: int) -> str:
    raw = fields.get("text")
    if not isinstance(raw, str):
        what = "is missing" if "text" not in fields else f"must be text, not {shortened(json.dumps(raw))}"
        raise AnnouncementError(Code.MISSING_TEXT, f"the field 'text' {what}")
    if len(raw) > 10 * max_length:  # no need to clean what cannot become short enough
        raise _too_long(len(raw), max_length)
    text = cleanup.clean(raw)
    if _is_missing_value(text) or not cleanup.has_speech(text):
        raise AnnouncementError(Code.NOTHING_TO_SAY, "the text holds nothing that can be spoken")
    if len(text) > max_length:
        raise _too_long(len(text), max_length)
    try:
        annotations.parse(text)
    except annotations.AnnotationError as error:
        raise AnnouncementError(Code.BAD_ANNOTATION, str(error)) from error
    return text


def _is_missing_value(text: str) -> bool:
    bare = text.strip("\"' ")
    return cleanup.is_placeholder(bare) or bare in _MISSING_VALUES


def _too_long(length: int, limit: int) -> AnnouncementError:
    return AnnouncementError(Code.TEXT_TOO_LONG, f"the text has {length} characters, the limit is {limit}")


def _value(name: str, value: Any) -> Any:
    """One field's value in its own type; numbers written as text pass, as templates write them."""
    wants_number = name in ("seed", "speed", "volume", "repeat", "repeat_pause_s", "ttl_s")
    try:
        if wants_number and isinstance(value, bool):
            raise msgspec.ValidationError("a truth value")
        return msgspec.convert(value, FIELDS[name], strict=not wants_number)
    except (msgspec.ValidationError, OverflowError) as error:
        shown = shortened(json.dumps(value, ensure_ascii=False))
        near = wording.did_you_mean(str(value), Priority) if name == "priority" else ""
        raise AnnouncementError(
            Code.OUT_OF_RANGE, f"{name} must be {wording.expected(FIELDS[name])}, not {shown}{near}"
        ) from error


def _style(style: str) -> str:
    resolved = styles.resolve(style)
    if resolved is None:
        near = wording.did_you_mean(style, styles.PRESETS) or f"; the styles are {', '.join(styles.PRESETS)}"
        raise AnnouncementError(Code.UNKNOWN_STYLE, f"there is no style '{shortened(style)}'{near}")
    return resolved


def _voice(voice: str | None, defaults: Defaults) -> str | None:
    if voice is None or voice == "auto":
        return defaults.voice if voice is None else None
    if voice not in defaults.voices:
        known = sorted(defaults.voices)
        near = wording.did_you_mean(voice, known) or f"; the voices are {', '.join(known)}"
        raise AnnouncementError(Code.UNKNOWN_VOICE, f"there is no voice '{shortened(voice)}'{near}")
    return voice


def _chime(chime: bool | str | None, defaults: Defaults) -> str | None:
    if chime is None:
        return defaults.chime
    if isinstance(chime, bool) or chime.lower() in ON_WORDS + OFF_WORDS:
        on = chime if isinstance(chime, bool) else chime.lower() in ON_WORDS
        return defaults.default_chime if on else None
    if chime not in defaults.chimes:
        near = (
            wording.did_you_mean(chime, defaults.chimes) or f"; the chimes are {', '.join(defaults.chimes)}"
        )
        raise AnnouncementError(Code.OUT_OF_RANGE, f"there is no chime '{shortened(chime)}'{near}")
    return chime


def _is_reply_topic(topic: str, base_topic: str) -> bool:
    """Results may go anywhere but to where a daemon would take them for a request: that is a loop."""
    try:
        check_publishable(topic)
    except TopicError:
        return False
    return not (topic.startswith(f"{base_topic}/") and {"say", "command", "set"} & set(topic.split("/")))
