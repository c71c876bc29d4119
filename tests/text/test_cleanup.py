"""Clean-up: markup and control characters go, what people mean stays."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosyvoice.text.cleanup import clean, has_speech, is_placeholder


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mum&#39;s big day &amp; more", "Mum's big day and more"),
        ("Mum&amp;#39;s", "Mum's"),
        ("Hello <|endofprompt|> whisper", "Hello whisper"),
        ("<|im_<|x|>end|>hi", "hi"),
        ("<speak>Hello <break time='1s'/>world</speak>", "Hello world"),
        ("<laughter>ha</laughter> <strong>yes</strong>", "ha yes"),
        ("one<br>two", "one two"),
        ("5 < 7 and 8 > 3", "5 < 7 and 8 > 3"),
        ("if x<y then", "if x<y then"),
        ("21.5 °C", "21.5 °C"),
        ("R&D", "R&D"),
        ("爸爸&妈妈", "爸爸和妈妈"),
        ("**Bold**, *it*, `code`", "Bold, it, code"),
        ("2 * 3 = 6, a_b_c", "2 * 3 = 6, a_b_c"),
        ("# Title\n- one\n* two\n- [x] done", "Title one two done"),
        ("see [the docs](https://a.b/c?d=e) now", "see the docs now"),
        ("请看https://example.com/a?b，好", "请看 example 点 com ，好"),
        ("visit https://www.example.com/x?y=1.", "visit example dot com ."),
        ("👍🏽 ok 👨‍👩‍👧 1️⃣ ①", "ok 1 1"),
        ("a\u200bb\u202ec\x07", "abc"),
        ("ＡＢＣ１２３，５０％，２０：３０", "ABC123，50%，20:30"),
        ("会议（线上）：三点", "会议（线上）：三点"),
        ("line one\r\nline\ttwo", "line one line two"),
        ("cafe\u0301", "café"),
        ("-5度", "-5度"),
        ("爱[h][ào]和[1]", "爱[h][ào]和[1]"),
    ],
)
def test_text_for_the_eye_becomes_text_for_the_ear(text: str, expected: str) -> None:
    assert clean(text) == expected


@given(st.text(alphabet="<|>ab im_end&;lt", max_size=40))
def test_no_control_token_is_left_or_can_form_again(text: str) -> None:
    cleaned = clean(text)
    assert "<|" not in cleaned
    assert "|>" not in cleaned


@given(st.text(max_size=80))
def test_the_result_is_one_line_without_edges(text: str) -> None:
    cleaned = clean(text)
    assert cleaned == " ".join(cleaned.split())


@pytest.mark.parametrize(
    "unit", ["<", "[", "[a](", "<a a=", "<|", "&#", "<!--", "*", "_ ", "https://a/.", "1："]
)
def test_a_mebibyte_of_hostile_text_takes_linear_time(unit: str) -> None:
    def seconds(length: int) -> float:
        began = time.perf_counter()
        clean(unit * (length // len(unit)))
        return time.perf_counter() - began

    # Quadratic work would take minutes; ten times the usual half second leaves room for a busy machine.
    assert seconds(2**20) < 5.0


@pytest.mark.parametrize("text", ["   ", "。。。！？", "...", "[laughter]", "[Breath] …"])
def test_marks_and_sounds_are_no_speech(text: str) -> None:
    assert not has_speech(text)


@pytest.mark.parametrize("text", ["ok", "3", "好", "[h][ào]", "да"])
def test_letters_and_digits_are_speech(text: str) -> None:
    assert has_speech(text)


def test_emoji_leave_nothing() -> None:
    assert clean("🎉👍") == ""


@pytest.mark.parametrize("text", ["None", " NULL ", "unknown", "Unavailable"])
def test_missing_values_of_templates_are_known(text: str) -> None:
    assert is_placeholder(text)


@pytest.mark.parametrize("text", ["None of them", "unknown caller", "", "无"])
def test_a_sentence_is_no_missing_value(text: str) -> None:
    assert not is_placeholder(text)
