"""Splitting: a hard limit, good places first, nothing lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosyvoice.text.split import sentence_end, split

_TEXT = st.text(alphabet="ab 你好，。！,.3[h][ào]“”-", max_size=120)


def _bare(text: str) -> str:
    return "".join(text.split())


@given(_TEXT, st.integers(1, 40), st.none() | st.integers(1, 20))
def test_no_piece_is_too_long_and_nothing_is_lost(text: str, max_chars: int, first: int | None) -> None:
    pieces = split(text, max_chars, first)
    assert all(0 < len(piece) <= max_chars for piece in pieces)
    assert _bare("".join(pieces)) == _bare(text)


@pytest.mark.parametrize(
    ("text", "max_chars", "expected"),
    [
        ("门开了。请去关门，外面很冷。", 10, ["门开了。", "请去关门，外面很冷。"]),
        ("外面很冷，请把前门关好，谢谢大家", 13, ["外面很冷，请把前门关好，", "谢谢大家"]),
        ("the washing machine is done", 16, ["the washing", "machine is done"]),
        ("Dr. Smith is here. He waits.", 20, ["Dr. Smith is here.", "He waits."]),
        ("It is 21.5 now, 1,234.5 km", 16, ["It is 21.5 now,", "1,234.5 km"]),
        ("他说：“好的。”然后走开了。", 9, ["他说：“好的。”", "然后走开了。"]),
        ("是[M][AY0][N][UW1][T]这个字吗", 20, ["是[M][AY0][N][UW1][T]", "这个字吗"]),
        ("她很喜好[h][ào]新奇的东西", 12, ["她很喜好[h][ào]新", "奇的东西"]),
    ],
)
def test_cuts_fall_where_a_speaker_would_pause(text: str, max_chars: int, expected: list[str]) -> None:
    assert split(text, max_chars) == expected


def test_a_lone_word_joins_its_neighbours() -> None:
    assert split("好。今天天气很好，我们去公园。", 12) == ["好。今天天气很好，", "我们去公园。"]
    assert split("Please close the front door now", 27) == ["Please close the front", "door now"]


def test_the_whole_text_may_be_one_word() -> None:
    assert split("好", 80) == ["好"]


def test_the_first_piece_ends_early_at_a_comma() -> None:
    text = "洗衣机已经洗好了，请把衣服拿出来晾在阳台上，谢谢。"
    assert split(text, 80, 12) == ["洗衣机已经洗好了，", "请把衣服拿出来晾在阳台上，谢谢。"]


def test_without_a_comma_near_the_first_piece_ends_at_the_first_one() -> None:
    assert split("今天晚上七点在大礼堂开会，请准时参加", 80, 5)[0] == "今天晚上七点在大礼堂开会，"


def test_without_any_comma_the_first_piece_is_not_torn() -> None:
    assert split("今天晚上七点在大礼堂开会", 80, 5) == ["今天晚上七点在大礼堂开会"]


def test_a_word_longer_than_the_limit_is_cut_hard() -> None:
    assert split("a" * 25, 10) == ["a" * 10, "a" * 10, "a" * 5]


@pytest.mark.parametrize(("max_chars", "first"), [(0, None), (10, 0)])
def test_a_limit_below_one_is_refused(max_chars: int, first: int | None) -> None:
    with pytest.raises(ValueError, match="at least one"):
        split("text", max_chars, first)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("", ""),
        ("The light is on.", ""),  # it may go on as `...`
        ("The light is on. And", "The light is on."),
        ("好的，灯已经打开了。还", "好的，灯已经打开了。"),
        ("他说：“好的好的。", ""),
        ("他说：“好的好的。”还", "他说：“好的好的。”"),
        ("It costs 3.", ""),
        ("It costs 3.5 euro. Is", "It costs 3.5 euro."),
        ("I met Dr. Who. He", "I met Dr. Who."),
        ("Yes. ", ""),  # too short to be spoken alone
        ("Yes. It is on. So", "Yes. It is on."),
    ],
)
def test_a_growing_text_ends_its_sentences(text: str, whole: str) -> None:
    assert text[: sentence_end(text)] == whole
