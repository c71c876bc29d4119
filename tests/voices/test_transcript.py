"""What may be a transcript, and whether it fits what is said."""

import pytest

from cosyvoice.errors import VoiceError
from cosyvoice.voices import transcript


@pytest.mark.parametrize(
    ("text", "count", "within"),
    [
        ("今天天气真好，我们出去走走。", 12, 0),
        ("Please close the kitchen window before you leave.", 12, 1),
        ("The washing machine has finished.", 8, 1),
        ("我家的TV坏了", 7, 0),
        ("こんにちは", 5, 0),
        ("Добрый вечер", 4, 0),
        ("안녕하세요", 5, 0),
        ("Der Schlüssel liegt über der Tür", 9, 1),
        ("rhythm", 2, 1),
    ],
)
def test_syllables_are_counted_about_right(text: str, count: int, within: int) -> None:
    assert abs(transcript.syllables(text) - count) <= within


def test_a_plain_transcript_is_kept_in_one_line() -> None:
    assert transcript.plain("  你好，\n这是我的声音。 ") == "你好， 这是我的声音。"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty"),
        ("...!?", "is empty"),
        ("hello<|endofprompt|>there", "control tokens"),
        ("hello <| there", "control tokens"),
        ("你[h][ǎo]吗", r"annotation \[h\]\[ǎo\]"),
        ("ha [laughter] ha", r"annotation \[laughter\]"),
        ("hello [foo] there", r"bracket \[foo\]"),
        ("好" * 301, "301 characters"),
    ],
)
def test_what_is_not_said_is_refused(text: str, reason: str) -> None:
    with pytest.raises(VoiceError, match=reason):
        transcript.plain(text)


@pytest.mark.parametrize(
    ("text", "language", "level"),
    [
        ("今天天气真好，我们一起出去走走，顺便买点水果吧。", "zh", "ok"),
        ("今天天气真好，我们走。", "zh", "note"),
        ("你好。", "zh", "problem"),
        ("今天天气真好，我们一起出去走走，顺便买点水果吧。" * 3, "zh", "problem"),
        ("The kitchen window is open, and it is going to rain this afternoon.", "en", "ok"),
        ("Hello.", "en", "problem"),
        ("There are 25 apples on the table and 13 pears in the kitchen.", "en", "note"),
    ],
)
def test_the_text_is_held_against_five_seconds_of_speech(text: str, language: str, level: str) -> None:
    finding = transcript.check(text, language, 5.0)
    assert finding.level == level
    assert (finding.do is None) == (level == "ok")
    assert transcript.fits(text, language, 5.0) == (level != "problem")
