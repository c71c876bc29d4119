"""What is spoken of a text, when, and in which voice."""

import pytest

from daemon.config import Config
from daemon.errors import AnnouncementError
from daemon.mqtt import configured
from daemon.storage.settings import Settings
from daemon.synthesis.builtin.voices import VOICES
from daemon.wyoming import script
from daemon.wyoming.messages import Hint
from daemon.wyoming.script import Script

ANSWER = "好的，客厅的灯已经打开了。现在是晚上八点，外面有点冷。OK!"


def a_script(hint: Hint | None = None, streamed: bool = False, settings: Settings | None = None) -> Script:
    return Script(hint, streamed, configured.defaults(Config(), settings or Settings(), VOICES), VOICES)


def texts(script: Script, *chunks: str) -> list[list[str]]:
    """What each chunk, and at last the end, makes whole."""
    found = [script.add(chunk) for chunk in chunks] + [script.end()]
    return [[utterance.text for utterance in utterances] for utterances in found]


def test_a_short_text_stays_whole_and_is_cleaned() -> None:
    text = "**Dinner** is ready 😀. Mum&#39;s waiting."
    assert texts(a_script(), text) == [[], ["Dinner is ready . Mum's waiting."]]


def test_a_long_text_is_spoken_by_sentences() -> None:
    sentence = "The quick brown fox jumps over the lazy dog again and again. "
    _, pieces = texts(a_script(), sentence * 10)
    assert "".join(pieces).replace(" ", "") == (sentence * 10).replace(" ", "")
    assert all(len(piece) <= script.MAX_UTTERANCE_CHARACTERS and piece.endswith(".") for piece in pieces)


def test_a_growing_text_is_spoken_by_whole_sentences() -> None:
    said = texts(a_script(streamed=True), *ANSWER)
    assert said[ANSWER.index("。") + 1] == ["好的，客厅的灯已经打开了。"]  # once it is seen to end there
    assert [text for part in said for text in part] == [
        *("好的，客厅的灯已经打开了。", "现在是晚上八点，外面有点冷。", "OK!")
    ]


def test_emphasis_over_two_sentences_leaves_no_marks() -> None:
    said = texts(a_script(streamed=True), "**It is cold outside. Take a coat** with you.")
    assert said == [["It is cold outside."], ["Take a coat with you."]]


def test_a_growing_text_without_an_end_is_cut() -> None:
    said = texts(a_script(streamed=True), *["na " * 50] * 9)
    assert any(said[:-1])
    assert all(len(text) <= script.MAX_UTTERANCE_CHARACTERS for part in said for text in part)


@pytest.mark.parametrize("text", ["", " ", "😀", "...", "unknown", "None"])
def test_nothing_to_say_is_nothing(text: str) -> None:
    assert texts(a_script(), text) == [[], []]


def test_an_assistant_may_say_none_and_write_brackets() -> None:
    assert texts(a_script(streamed=True), "None") == [[], ["None"]]
    assert texts(a_script(), "See [can] and 爱[h][ào]") == [[], ["See  can  and 爱 h  ào"]]
    assert texts(a_script(), "她的爱[h][ào]是画画") == [[], ["她的爱[h][ào]是画画"]]


def test_a_text_without_end_is_refused() -> None:
    growing = a_script(streamed=True)
    for _ in range(script.MAX_CHARACTERS // 4):
        growing.add("ab. ")
    with pytest.raises(AnnouncementError) as error:
        growing.add("ab. ")
    assert error.value.code == "text_too_long"


@pytest.mark.parametrize(
    ("hint", "text", "voice", "language"),
    [
        (None, "Hello", "am_michael", "en"),  # as the settings have it
        (None, "你好", "am_michael", "zh"),
        (Hint(name="zf_xiaoxiao"), "你好", "zf_xiaoxiao", "zh"),
        (Hint(name="zf_xiaoxiao"), "21.5", "zf_xiaoxiao", "zh"),  # in the voice's own language
        (Hint(name="cosyvoiced", speaker="bf_emma"), "Hello", "bf_emma", "en"),
        (Hint(name="no-such-voice"), "你好", None, "zh"),
        (Hint(language="zh_CN"), "21.5", None, "zh"),
        (Hint(language="en-US"), "Hello", None, "en"),
        (Hint(language="?"), "你好", None, "zh"),
    ],
)
def test_the_voice_is_the_one_asked_for(hint: Hint | None, text: str, voice: str, language: str) -> None:
    asked = a_script(hint, settings=Settings(voice="am_michael", style="soft"))
    asked.add(text)
    (utterance,) = asked.end()
    assert (utterance.voice, utterance.language, utterance.style) == (voice, language, "soft")


def test_one_english_word_does_not_change_the_voice_of_a_chinese_answer() -> None:
    growing = a_script(streamed=True)
    said = [utterance for character in ANSWER for utterance in growing.add(character)] + growing.end()
    assert [utterance.language for utterance in said] == ["zh", "zh", "zh"]
