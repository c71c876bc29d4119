"""Styles as they can be measured in the samples: pace, pitch, range and level."""

from typing import Any

import numpy as np
import pytest

from daemon.synthesis.builtin import styles
from daemon.synthesis.builtin.engine import BuiltinEngine
from daemon.synthesis.builtin.loudness import speech_level_db
from tests.builtin.speech import RATE_HZ, f0_hz, pieces, say

TEXTS = {
    "heart": ("en", "The washing machine has finished, please hang up the clothes."),
    "zf_xiaoyi": ("zh", "洗衣机已经洗好了。"),
}


def said(engine: BuiltinEngine, voice: str, style: str) -> Any:
    language, text = TEXTS[voice]
    return say(engine, text, language, voice, style=style)


@pytest.mark.parametrize("style", ["cantonese", "sichuan", "用四川话说这句话"])
def test_a_style_that_the_engine_lacks_is_named_as_degraded(style: str) -> None:
    assert styles.choose(style, "zh") == (styles.NEUTRAL, ("style",))


def test_mandarin_is_a_style_of_mandarin_only() -> None:
    assert styles.choose("mandarin", "zh") == (styles.NEUTRAL, ())
    assert styles.choose("mandarin", "en") == (styles.NEUTRAL, ("style",))


@pytest.mark.parametrize("voice", TEXTS)
def test_slow_takes_longer_and_fast_shorter(engine: BuiltinEngine, voice: str) -> None:
    slow, neutral, fast = (len(said(engine, voice, style)) for style in ("slow", "neutral", "fast"))
    assert slow > 1.1 * neutral
    assert fast < 0.9 * neutral


@pytest.mark.parametrize("voice", TEXTS)
def test_loud_and_soft_change_the_level_and_never_clip(engine: BuiltinEngine, voice: str) -> None:
    loud, neutral, soft = (said(engine, voice, style) for style in ("loud", "neutral", "soft"))
    level = {name: speech_level_db(x, RATE_HZ) for name, x in (("l", loud), ("n", neutral), ("s", soft))}
    assert level["l"] > level["n"] + 5
    assert level["s"] < level["n"] - 7
    assert np.abs(loud).max() < 1.0


@pytest.mark.parametrize("voice", TEXTS)
def test_excited_is_higher_and_livelier_and_sad_lower_and_flatter(engine: BuiltinEngine, voice: str) -> None:
    excited, neutral, sad = (f0_hz(said(engine, voice, style)) for style in ("excited", "neutral", "sad"))
    assert excited.mean() > 1.07 * neutral.mean()
    assert sad.mean() < 0.96 * neutral.mean()
    assert excited.std() > 1.1 * neutral.std()
    assert sad.std() < 0.8 * neutral.std()


def test_a_lacking_style_is_spoken_all_the_same(engine: BuiltinEngine) -> None:
    first, *_ = pieces(engine, "你好", "zh", "zf_xiaoyi", style="sichuan")
    assert first.degraded == ("style",)
    assert len(first.samples) > RATE_HZ // 4
