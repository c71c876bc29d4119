"""Tone changes of connected Mandarin speech: 一, 不, and third tones in a row. Pure functions of data."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cosyvoice.text.inventory import NEUTRAL_TONE, Syllable

_DIGITS = frozenset("零〇一二三四五六七八九两幺")
_TENS = frozenset("十百千万亿")
# After these 一 is an ordinal or part of a name and keeps its tone.
_ORDINAL_BEFORE = frozenset("第十点初周期")
_ORDINAL_AFTER = frozenset("月号楼班级等年")


@dataclass(slots=True)
class Spoken:
    """One syllable on its way to speech."""

    char: str
    syllable: Syllable
    fixed: bool = False  # an annotation gave this reading: no rule may change it

    @property
    def tone(self) -> int:
        return self.syllable.tone

    def set_tone(self, tone: int) -> None:
        if not self.fixed:
            self.syllable = self.syllable._replace(tone=tone)


def apply(words: Sequence[Sequence[Spoken]], is_word: Callable[[str], bool]) -> None:
    """Changes the tones within one phrase (no pause inside), given word by word, in place.

    `is_word` tells how a word of three third tones falls apart (展览|馆 or 小|老虎).
    """
    syllables = [spoken for word in words for spoken in word]
    for index, spoken in enumerate(syllables):
        before = syllables[index - 1] if index else None
        after = syllables[index + 1] if index + 1 < len(syllables) else None
        if spoken.char == "一" and spoken.tone == 1:
            _change_one(spoken, before, after)
        elif spoken.char == "不" and spoken.tone == 4 and after is not None:
            spoken.set_tone(2 if after.tone == 4 else 4)
    for word in words:
        _third_tones_in_word(word, is_word)
    _third_tones_between(words)


def _change_one(one: Spoken, before: Spoken | None, after: Spoken | None) -> None:
    if after is None or after.char in _DIGITS | _ORDINAL_AFTER:
        return
    if before is not None and before.char in _DIGITS | _ORDINAL_BEFORE and after.char not in _TENS:
        return
    if (before is not None and before.char in "第十") or after.char == "十":
        return
    one.set_tone(2 if after.tone in (4, NEUTRAL_TONE) else 4)


def _third_tones_in_word(word: Sequence[Spoken], is_word: Callable[[str], bool]) -> None:
    start = 0
    while start < len(word):
        end = start
        while end < len(word) and word[end].tone == 3:
            end += 1
        run = word[start:end]
        chars = "".join(spoken.char for spoken in run)
        if len(run) == 3 and is_word(chars[1:]):
            run[1].set_tone(2)  # 小|老虎
        elif len(run) == 4:
            run[0].set_tone(2)
            run[2].set_tone(2)
        elif len(run) > 1:
            for spoken in run[:-1]:
                spoken.set_tone(2)
        start = max(end, start + 1)


def _third_tones_between(words: Sequence[Sequence[Spoken]]) -> None:
    """Right to left: 我|很|好 becomes 我 很↗ 好. Two words of several syllables leave room for a pause."""
    for word, following in reversed(list(itertools.pairwise(words))):
        if not word or not following:
            continue
        together = len(word) == 1 or len(following) == 1
        if together and word[-1].tone == 3 and following[0].tone == 3:
            word[-1].set_tone(2)
