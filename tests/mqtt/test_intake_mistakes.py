"""What templates, browsers and C programs send, and what people expect to hear of it."""

import pytest

from daemon.errors import Code
from tests.mqtt.test_intake import job_of, refusal_of


@pytest.mark.parametrize(
    "payload",
    [
        b" " * 70 + b'{"text":"hi"}',
        b"\r\n\r\n\t\n" * 20 + b'{"text":"hi"}\r\n',
        b"\xef\xbb\xbf\xef\xbb\xbf" + b'{"text":"hi"}',
        b"\n\xef\xbb\xbf" + b'{"text":"hi"}',
        "\u00a0\u3000".encode() + b'{"text":"hi"}',
        b'{"text":"hi"}\x00',
    ],
)
def test_what_stands_around_json_does_not_turn_it_into_speech(payload: bytes) -> None:
    assert job_of(payload).text == "hi"


@pytest.mark.parametrize(
    "payload",
    [
        b'{"\\ud800":1,"text":"hi"}',
        b'{"volume":["\\ud800"],"text":"hi"}',
        b'{"priority":{"\\udc00":1},"text":"hi"}',
    ],
)
def test_an_error_that_quotes_half_of_a_surrogate_pair_can_be_published(payload: bytes) -> None:
    assert refusal_of(payload).message.encode()


def test_an_unknown_field_does_not_cost_the_id_and_the_reply_topic() -> None:
    error = refusal_of({"id": "a1", "text": "hi", "volumme": 1, "reply_to": "home/r"})
    assert (error.code, error.request_id, error.reply_to) == (Code.UNKNOWN_FIELD, "a1", "home/r")
    assert refusal_of(b'{"id":"a1","text":"\\ud800"}').request_id == "a1"


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        (b'[{"text":"hi"}]', Code.BAD_JSON),
        (b"{{ states('sensor.door') }}", Code.BAD_JSON),
        (b"{'text': 'hi'}", Code.BAD_JSON),
        ('{"text":"hi"}'.encode("utf-16-le"), Code.BAD_JSON),
        ("hi".encode("utf-16"), Code.BAD_ENCODING),
        (b'{"text":{"text":"hi"}}', Code.MISSING_TEXT),
        (b'{"text":true}', Code.MISSING_TEXT),
        (b"undefined", Code.NOTHING_TO_SAY),
        (b'{"text":"NaN"}', Code.NOTHING_TO_SAY),
        (b"[object Object]", Code.NOTHING_TO_SAY),
        (b'"None"', Code.NOTHING_TO_SAY),
        ("؟،।॥".encode(), Code.NOTHING_TO_SAY),
    ],
)
def test_what_programs_send_by_mistake_is_not_spoken(payload: bytes, code: Code) -> None:
    assert refusal_of(payload).code == code


@pytest.mark.parametrize(
    ("payload", "spoken"),
    [
        (b"21.5", "21.5"),
        (b"Mum&amp;#39;s cake", "Mum's cake"),
        (b'{"text":"party \\ud83c\\udf89 time"}', "party time"),
        ("Dinner 🍽️ is ready".encode(), "Dinner is ready"),
        (b"one\r\ntwo\x00", "one two"),
        (b"The value is undefined", "The value is undefined"),
        (b"Nan", "Nan"),
    ],
)
def test_what_programs_send_and_people_want_to_hear(payload: bytes, spoken: str) -> None:
    assert job_of(payload).text == spoken


@pytest.mark.parametrize(
    ("chime", "rings"), [("true", "gong"), ("On", "gong"), ("False", None), ("off", None), ("bell", "bell")]
)
def test_a_truth_value_written_as_text_rings_or_does_not(chime: str, rings: str | None) -> None:
    assert job_of({"text": "hi", "chime": chime}).chime == rings
