"""Every payload becomes one job or one error with its code."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.errors import Code
from daemon.jobs.job import Job, Priority
from daemon.mqtt.intake import Defaults, Envelope, Refused, fingerprint, parse_say
from tests.jobs.samples import FakeClock

CASES = json.loads((Path(__file__).parents[1] / "data" / "mqtt_cases.json").read_text(encoding="utf-8"))
NOW = FakeClock()()
DEFAULTS = Defaults(
    style="neutral",
    voice=None,
    language="en",
    seed=0,
    chime=None,
    default_chime="gong",
    ttl_s=120.0,
    max_text_length=200,
    voices=("heart", "zf_xiaoyi", "am_michael"),
    chimes=("gong", "bell"),
    base_topic="cosyvoice",
)
TOPIC = "cosyvoice/kitchen/say"


def job_of(payload: bytes | str | dict[str, Any], **envelope: Any) -> Job:
    if isinstance(payload, dict):
        payload = json.dumps(payload)
    if isinstance(payload, str):
        payload = payload.encode()
    return parse_say(payload, Envelope(**{"topic": TOPIC, **envelope}), DEFAULTS, NOW)


def refusal_of(payload: bytes | str | dict[str, Any], **envelope: Any) -> Refused:
    with pytest.raises(Refused) as error:
        job_of(payload, **envelope)
    return error.value


def outcome_of(payload: bytes | str) -> Job | Code:
    try:
        return job_of(payload)
    except Refused as error:
        return error.code


def payload_of(case: dict[str, Any]) -> bytes:
    return b"a" * 2**20 if case["name"] == "huge" else bytes.fromhex(case["payload_hex"])


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.get("spoken")], ids=lambda case: case["name"]
)
def test_public_fault_reports_that_are_to_be_spoken(case: dict[str, Any]) -> None:
    assert job_of(payload_of(case)).text == case["spoken"]


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["event"] == "rejected"], ids=lambda case: case["name"]
)
def test_public_fault_reports_that_are_to_be_rejected(case: dict[str, Any]) -> None:
    assert refusal_of(payload_of(case)).code == case["code"]


def test_plain_text_gets_all_defaults() -> None:
    job = job_of("The washing machine has finished")
    assert (job.text, job.language, job.style, job.voice) == (
        "The washing machine has finished",
        "en",
        "neutral",
        None,
    )
    assert (job.priority, job.repeat, job.ttl_s, job.output) == (Priority.MESSAGE, 1, 120.0, "both")
    assert job.id


def test_every_field_arrives() -> None:
    fields = {
        "text": "晚饭好了",
        "style": "happy",
        "voice": "heart",
        "language": "zh",
        "seed": 4294967295,
        "speed": 1.5,
        "volume": 30,
        "priority": "important",
        "chime": "bell",
        "repeat": 3,
        "repeat_pause_s": 0.5,
        "ttl_s": 5,
        "output": "file",
        "id": "晚饭/1",
        "reply_to": "home/replies",
    }
    job = job_of(fields)
    for name, value in fields.items():
        assert getattr(job, name) == value


@pytest.mark.parametrize(
    ("payload", "language"),
    [("晚饭好了", "zh"), ("21.5", "en"), ("ご飯ができました", "ja"), ("打开 the window", "zh")],
)
def test_the_language_is_guessed_by_script(payload: str, language: str) -> None:
    assert job_of(payload).language == language


def test_the_topic_names_a_style_and_the_payload_overrides_it() -> None:
    assert job_of("hi there", topic_style="sad").style == "sad"
    assert job_of({"text": "hi", "style": "happy"}, topic_style="sad").style == "happy"
    assert refusal_of("hi", topic_style="sadd").code == Code.UNKNOWN_STYLE


@pytest.mark.parametrize(
    ("style", "resolved"),
    [("HAPPY", "happy"), ("四川话", "sichuan"), ("用四川话说这句话", "用四川话说这句话")],
)
def test_labels_and_sentences_are_styles(style: str, resolved: str) -> None:
    assert job_of({"text": "hi", "style": style}).style == resolved


@pytest.mark.parametrize(
    ("fields", "code", "names"),
    [
        ({"text": "hi", "volumme": 1}, Code.UNKNOWN_FIELD, "volume"),
        ({"text": "hi", "style": "hapy"}, Code.UNKNOWN_STYLE, "happy"),
        ({"text": "hi", "voice": "am_micheal"}, Code.UNKNOWN_VOICE, "am_michael"),
        ({"text": "hi", "priority": "importand"}, Code.OUT_OF_RANGE, "important"),
        ({"text": "hi", "chime": "gongg"}, Code.OUT_OF_RANGE, "gong"),
        ({"text": "你好[foo]"}, Code.BAD_ANNOTATION, "[foo]"),
        ({"text": "a" * 201}, Code.TEXT_TOO_LONG, "201 characters, the limit is 200"),
    ],
)
def test_an_error_names_what_was_probably_meant(fields: dict[str, Any], code: Code, names: str) -> None:
    error = refusal_of(fields)
    assert error.code == code
    assert names in error.message


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("volume", 101),
        ("volume", -1),
        ("volume", True),
        ("volume", "loud"),
        ("volume", 1e400),
        ("speed", 0.4),
        ("speed", 2.1),
        ("speed", "nan"),
        ("seed", -1),
        ("seed", 2**32),
        ("seed", 1.5),
        ("repeat", 0),
        ("repeat", 11),
        ("ttl_s", 0),
        ("ttl_s", 86401),
        ("output", "speakers"),
        ("language", "english"),
        ("language", 5),
        ("id", ""),
        ("id", "x" * 129),
        ("id", 7),
        ("chime", 3),
        ("priority", None.__class__.__name__),
        ("reply_to", "cosyvoice/kitchen/say"),
        ("reply_to", "a/+/b"),
        ("reply_to", "$SYS/x"),
        ("reply_to", ""),
        ("style", 5),
        ("voice", ["heart"]),
    ],
)
def test_out_of_range(field: str, value: object) -> None:
    payload = json.dumps({"text": "hi", field: value}).replace("Infinity", "1e400")
    if field == "reply_to" and value == "":
        assert job_of(payload).reply_to is None
        return
    error = refusal_of(payload)
    assert error.code == Code.OUT_OF_RANGE
    assert error.message.startswith(field) or "chime" in error.message


def test_numbers_that_templates_write_as_text_pass() -> None:
    job = job_of({"text": "hi", "volume": "50", "speed": "1.5", "repeat": 2.0})
    assert (job.volume, job.speed, job.repeat) == (50, 1.5, 2)


def test_null_means_default() -> None:
    assert job_of({"text": "hi", "volume": None, "style": None, "id": None}).style == "neutral"


@pytest.mark.parametrize("word", ["None", "null", "unknown", "Unavailable", " none \n"])
@pytest.mark.parametrize("wrap", [lambda word: word, lambda word: json.dumps({"text": word})])
def test_what_templates_deliver_for_nothing(word: str, wrap: Any) -> None:
    assert refusal_of(wrap(word)).code == Code.NOTHING_TO_SAY


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        (b'{"text":"a","text":"b"}', Code.BAD_JSON),
        (b'{"text":"a"', Code.BAD_JSON),
        (b"{}", Code.MISSING_TEXT),
        (b'{"text":Infinity}', Code.BAD_JSON),
        (b'{"text":"\\ud800"}', Code.BAD_ENCODING),
        (b'{"text":"a"} trailing', Code.BAD_JSON),
        (b'{"text":' + b"[" * 30000 + b"}", Code.BAD_JSON),
        (b'{"seed":' + b"9" * 10000 + b',"text":"a"}', Code.BAD_JSON),
        (b'{"text":"' + b"a" * 70000 + b'"}', Code.PAYLOAD_TOO_LARGE),
        (b"\xff\xfeh\x00i\x00", Code.BAD_ENCODING),
        (b"\xe6\xb4", Code.BAD_ENCODING),
        (b"\xef\xbb\xbf", Code.NOTHING_TO_SAY),
        (b" \n\t ", Code.NOTHING_TO_SAY),
        (b"\x00\x01", Code.NOTHING_TO_SAY),
        ("…—「」".encode(), Code.NOTHING_TO_SAY),
        (b"<|endofprompt|>", Code.NOTHING_TO_SAY),
        (b"<<|x|>|endofprompt|>", Code.NOTHING_TO_SAY),
    ],
)
def test_hostile_payloads(payload: bytes, code: Code) -> None:
    assert refusal_of(payload).code == code


def test_a_megabyte_is_refused_in_milliseconds() -> None:
    for payload in (b"a" * 2**20, b"<" * 2**20, b"[" * 2**20, b"{" * 2**20, "你".encode() * 2**18):
        started_s = time.perf_counter()
        refusal_of(payload)
        assert time.perf_counter() - started_s < 0.1


def test_a_refusal_keeps_id_and_reply_topic() -> None:
    error = refusal_of({"text": "hi", "id": "a1", "reply_to": "home/replies", "volume": 1000})
    assert (error.request_id, error.reply_to) == ("a1", "home/replies")
    assert refusal_of("", response_topic="home/r").reply_to == "home/r"
    assert refusal_of({"text": "", "reply_to": "cosyvoice/all/say"}).reply_to is None


def test_mqtt5_expiry_shortens_the_time_to_live() -> None:
    assert job_of("hi", message_expiry_s=7).ttl_s == 7
    assert job_of({"text": "hi", "ttl_s": 3}, message_expiry_s=7).ttl_s == 3


def test_response_topic_and_correlation_data_are_kept() -> None:
    job = job_of("hi", response_topic="home/r", correlation_data=b"\x01")
    assert (job.reply_to, job.correlation_data) == ("home/r", b"\x01")


def test_a_fingerprint_tells_deliveries_apart() -> None:
    first = fingerprint(Envelope(topic=TOPIC, mid=1), b"hi")
    assert first == fingerprint(Envelope(topic=TOPIC, mid=1), b"hi")
    assert first != fingerprint(Envelope(topic=TOPIC, mid=2), b"hi")
    assert first != fingerprint(Envelope(topic=TOPIC, mid=1), b"ho")


@given(st.binary(max_size=300))
def test_any_bytes_end_in_a_job_or_a_code(payload: bytes) -> None:
    ended = outcome_of(payload)
    assert isinstance(ended, Code) or 1 <= len(ended.text) <= 200


_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@given(
    st.dictionaries(
        st.sampled_from(sorted({"text", "style", "voice", "id", "seed", "x", "chime", "ttl_s"})), _VALUES
    )
)
def test_any_object_ends_in_a_job_or_a_code(fields: dict[str, Any]) -> None:
    assert isinstance(outcome_of(json.dumps(fields)), Code | Job)
