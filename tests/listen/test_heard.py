"""What Whisper-base hears of twenty everyday sentences in each language, with the default voices."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from daemon.synthesis.builtin import voices
from daemon.synthesis.builtin.engine import BuiltinEngine
from tests.builtin.speech import RATE_HZ, say
from tests.listen.listener import Listener, Scorer, errors

pytestmark = pytest.mark.listen

SENTENCES: dict[str, list[dict[str, str]]] = json.loads(
    (Path(__file__).parents[1] / "data" / "sentences.json").read_text(encoding="utf-8")
)
MAX_WORD_ERROR_RATE = 0.03
MAX_CHARACTER_ERROR_RATE = 0.07


def error_rate(
    engine: BuiltinEngine, listener: Listener, language: str, units: Callable[[str], list[str]]
) -> tuple[float, list[str]]:
    """The rate over all sentences, and each sentence that was misheard."""
    wrong = total = 0
    misheard = []
    for sentence in SENTENCES[language]:
        voice = voices.DEFAULT_VOICE[language]
        heard = listener.hear(say(engine, sentence["text"], language, voice), RATE_HZ, language)
        spoken = units(sentence["spoken"])
        count = errors(units(heard), spoken)
        wrong += count
        total += len(spoken)
        if count:
            misheard.append(f"{count}: {sentence['text']} -> {heard}")
    return wrong / total, misheard


@pytest.mark.timeout(180)  # twenty sentences: 25 s here, more on a busy machine
def test_english_is_understood(engine: BuiltinEngine, listener: Listener, scorer: Scorer) -> None:
    rate, misheard = error_rate(engine, listener, "en", scorer.words)
    print(f"word error rate {rate:.1%}", *misheard, sep="\n")
    assert rate <= MAX_WORD_ERROR_RATE, misheard


@pytest.mark.timeout(180)
def test_mandarin_is_understood(engine: BuiltinEngine, listener: Listener, scorer: Scorer) -> None:
    rate, misheard = error_rate(engine, listener, "zh", scorer.characters)
    print(f"character error rate {rate:.1%}", *misheard, sep="\n")
    assert rate <= MAX_CHARACTER_ERROR_RATE, misheard


def test_a_mixed_sentence_is_understood(engine: BuiltinEngine, listener: Listener, scorer: Scorer) -> None:
    """The clearest of eight tried: a Mandarin voice's English words are mostly misheard in Chinese text."""
    text = "请播放Happy Birthday这首歌。"
    heard = listener.hear(say(engine, text, "zh", "zf_xiaoyi"), RATE_HZ, "zh")
    assert scorer.characters(heard) == scorer.characters(text)


def test_an_annotation_changes_what_is_heard(
    engine: BuiltinEngine, listener: Listener, scorer: Scorer
) -> None:
    heard = {
        text: "".join(scorer.characters(listener.hear(say(engine, text, "zh", "zf_xiaoyi"), RATE_HZ, "zh")))
        for text in ("今天天气很[h][ǎo]。", "今天天气很[l][ěng]。")
    }
    assert list(heard.values()) == ["今天天气很好", "今天天气很冷"]


@pytest.mark.parametrize("style", ["slow", "fast", "soft", "excited", "sad", "angry"])
def test_a_style_is_still_understood(
    engine: BuiltinEngine, listener: Listener, scorer: Scorer, style: str
) -> None:
    text = "Dinner is ready, please come to the kitchen."
    heard = listener.hear(say(engine, text, "en", "heart", style=style), RATE_HZ, "en")
    assert scorer.words(heard) == scorer.words(text)
