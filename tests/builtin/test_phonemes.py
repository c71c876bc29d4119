"""The entrance of the text front end: pieces of phonemes."""

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosyvoice.text.annotations import AnnotationError
from daemon.synthesis.builtin import phonemes
from daemon.synthesis.builtin.phonemes import CLAUSE_PAUSE_S, SENTENCE_PAUSE_S, Phonemizer
from daemon.synthesis.engine import EngineError

VOCABULARY = set(
    json.loads((Path(phonemes.__file__).parent / "data" / "kokoro_vocab.json").read_text("utf-8"))
)


@pytest.fixture(scope="module")
def phonemizer() -> Phonemizer:
    phonemizer = Phonemizer()
    phonemizer.load(["zh", "en"])
    return phonemizer


def _said(phonemizer: Phonemizer, text: str, language: str = "zh") -> str:
    return " ".join(piece.phonemes for piece in phonemizer.pieces(text, language, 500))


def test_numbers_are_read_before_they_become_phonemes(phonemizer: Phonemizer) -> None:
    assert _said(phonemizer, "3.14") == _said(phonemizer, "三点一四")
    assert _said(phonemizer, "at 7:05", "en") == _said(phonemizer, "at seven oh five", "en")


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        ("她好[hao4]奇", "她好[h][ào]奇"),
        ("行[xíng]不行", "行不行"),
        ("银行[háng]", "银行"),
    ],
)
def test_a_reading_behind_its_character_is_not_said_twice(
    phonemizer: Phonemizer, text: str, same_as: str
) -> None:
    assert _said(phonemizer, text) == _said(phonemizer, same_as)


def test_a_reading_replaces_that_of_the_character(phonemizer: Phonemizer) -> None:
    assert _said(phonemizer, "行") == "ɕi↗ŋ"
    assert _said(phonemizer, "行[h][áng]") == "xa↗ŋ"


def test_a_reading_in_a_characters_place_is_a_syllable_of_its_own(phonemizer: Phonemizer) -> None:
    assert _said(phonemizer, "她的爱[h][ào]是画画") == "tʰa→ tɤ ai↘ xau↘ ʂɨ↘ xwa↘xwa↘"


def test_english_inside_chinese_is_said_in_english(phonemizer: Phonemizer) -> None:
    said = _said(phonemizer, "请连接WiFi，到A座")
    assert "wˈI fˌI," in said
    assert "ˈA ʦwo↘" in said


@pytest.mark.parametrize(
    ("text", "english"),
    [("请打开 TV", True), ("到A座", True), ("这是[M][AY0][N][UW1][T]字", True), ("她好[h][ào]奇", False)],
)
def test_english_is_known_by_what_is_said(phonemizer: Phonemizer, text: str, english: bool) -> None:
    (piece,) = phonemizer.pieces(text, "zh", 120)
    assert piece.holds_english is english


def test_arpabet_is_said_inside_chinese(phonemizer: Phonemizer) -> None:
    assert _said(phonemizer, "这是[M][AY0][N][UW1][T]字") == "ꭧɤ↘ʂɨ↘ mInˈut ʦɨ↘"


def test_pauses_follow_punctuation_and_end_with_none(phonemizer: Phonemizer) -> None:
    text = "洗衣机已经洗好了，请把衣服拿出来晾在阳台上。今天晚上可能会下雨，请关好窗户。"
    pieces = phonemizer.pieces(text, "zh", 120, 12)
    assert [piece.pause_s for piece in pieces] == [CLAUSE_PAUSE_S, SENTENCE_PAUSE_S, 0.0]
    assert [piece.phonemes[-1] for piece in pieces] == [",", ".", "."]


def test_a_dropped_sound_is_told_once(phonemizer: Phonemizer) -> None:
    pieces = phonemizer.pieces("[laughter]你好。再见，明天见。", "zh", 120, 4)
    assert [piece.degraded for piece in pieces] == [("tag",), ()]


@pytest.mark.parametrize(
    ("text", "language"), [("Привет, hello", "en"), ("你好の", "zh"), ("Guten Tag", "de")]
)
def test_a_script_or_language_that_is_not_spoken_is_told(
    phonemizer: Phonemizer, text: str, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyopenjtalk", None)
    pieces = phonemizer.pieces(text, language, 120)
    assert {name for piece in pieces for name in piece.degraded} == {"language"}


@pytest.mark.parametrize("text", ["[laughter]", "。。。", "Привет", "→ ★"])
def test_nothing_sayable_is_an_error(phonemizer: Phonemizer, text: str) -> None:
    with pytest.raises(EngineError, match="nothing"):
        phonemizer.pieces(text, "zh", 120)


def test_a_mistyped_annotation_is_an_error(phonemizer: Phonemizer) -> None:
    with pytest.raises(AnnotationError, match=r"\[foo\]"):
        phonemizer.pieces("你好[foo]", "zh", 120)


@settings(max_examples=60, deadline=None)
@given(
    st.text(alphabet="你好一不行儿的WiFi Aé 3.5%，。！?“”[h][ào]の→", min_size=1, max_size=60),
    st.sampled_from(["zh", "en"]),
    st.integers(8, 120),
)
def test_pieces_fit_and_hold_only_known_symbols(
    phonemizer: Phonemizer, text: str, language: str, max_tokens: int
) -> None:
    try:
        pieces = phonemizer.pieces(text, language, max_tokens, 5)
    except (AnnotationError, EngineError):
        return
    assert all(0 < len(piece.phonemes) <= max_tokens for piece in pieces)
    assert all(set(piece.phonemes) <= VOCABULARY for piece in pieces)


def test_a_long_text_without_punctuation_fits(phonemizer: Phonemizer) -> None:
    pieces = phonemizer.pieces("今天晚饭时间到了" * 20, "zh", 120)
    assert all(len(piece.phonemes) <= 120 for piece in pieces)
    spoken = "".join(piece.phonemes for piece in pieces).replace(" ", "")
    assert spoken == _said(phonemizer, "今天晚饭时间到了").replace(" ", "") * 20
