"""Mandarin text to Kokoro's phonemes: words, readings by phrase, tone changes, then syllable by syllable.

Kokoro-82M v1.0 was trained on syllables without a gap inside a word and a space between words, cut by
jieba; rjieba cuts the same way. The readings are pypinyin's tables, read from its package without
importing it: as Python dicts they would take 55 MiB, packed they take 8.
"""

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from cosyvoice.text.inventory import NEUTRAL_TONE, Syllable, read_syllable
from daemon.synthesis.builtin import readings, sandhi, syllables
from daemon.synthesis.builtin.packed import PackedTable
from daemon.synthesis.builtin.sandhi import Spoken
from daemon.synthesis.engine import EngineError

SYLLABLE = "\ue000"  # private use: stands in a text for a syllable that is given by an annotation alone

_LONGEST_PHRASE = 10  # characters, of pypinyin's phrases
_PRONOUNS = frozenset("我你您他她它们咱")
_MUST_BEFORE = _PRONOUNS | frozenset("就也都总又可必")  # before 得 it means "must", dei3
_DONE = frozenset("了到过 ")
_PLACE_LEADS = frozenset(
    " 这那此该本各两某当场实陆土空天一二三四五六七八九十"
)  # before 地 it is a place, di4
_COUNTS = frozenset("一二三四五六七八九十百千万两几半多每各这那哪")
_FOR_WHOM = _PRONOUNS | frozenset("了此何客孩")


class Mandarin:
    """Han characters to phonemes. `load` before use."""

    def __init__(self) -> None:
        self._phrases = PackedTable.of(())
        self._singles = PackedTable.of(())
        self._cut: Callable[[str], list[str]] | None = None

    def load(self) -> None:
        """Packs the reading tables, about 0.4 s. Raises `EngineError`."""
        if self._cut is not None:
            return
        spec = importlib.util.find_spec("pypinyin")
        if spec is None or spec.origin is None:
            raise EngineError("Mandarin needs the package pypinyin, which is not installed")
        folder = Path(spec.origin).parent
        self._phrases, _ = PackedTable.from_json((folder / "phrases_dict.json").read_text("utf-8"))
        self._singles, _ = PackedTable.from_json((folder / "pinyin_dict.json").read_text("utf-8"))
        import rjieba  # not at import: it builds its dictionary then, 30 MiB

        self._cut = rjieba.cut

    def readings(self, char: str) -> tuple[Syllable, ...]:
        """All readings of one character, the most usual first."""
        spellings = str(self._singles.get(str(ord(char)), "")).split(",")
        found = [syllable for syllable in map(read_syllable, spellings) if syllable is not None]
        if char in readings.SINGLES:
            found.insert(0, _syllable(readings.SINGLES[char]))
        return tuple(dict.fromkeys(found))

    def phonemes(self, text: str, given: Mapping[int, Syllable]) -> str:
        """Phonemes of a run of characters without punctuation, all of which it `knows`.

        `given` holds the readings that annotations set, by index; `SYLLABLE` in `text` needs one.
        """
        words = self._words(text, given)
        sandhi.apply(words, lambda part: len(self._segment(part)) == 1)
        return " ".join("".join(syllables.phonemes(spoken.syllable) for spoken in word) for word in words)

    def _segment(self, text: str) -> list[str]:
        if self._cut is None:
            raise EngineError("Mandarin is not loaded")
        return self._cut(text)

    def _words(self, text: str, given: Mapping[int, Syllable]) -> list[list[Spoken]]:
        cut = self._segment(text)
        found = self._curated(text, cut)
        words: list[list[Spoken]] = []
        at = 0
        for word in cut:
            usual = self._read_word(word, text[at - 1 : at], text[at + len(word) : at + len(word) + 1])
            words.append(
                [
                    Spoken(char, given.get(at + i) or found.get(at + i) or usual[i], fixed=at + i in given)
                    for i, char in enumerate(word)
                ]
            )
            at += len(word)
        return words

    @staticmethod
    def _curated(text: str, cut: Sequence[str]) -> dict[int, Syllable]:
        """Readings of curated phrases, by index, where a phrase does not begin or end inside another word."""
        starts, at = {0}, 0
        for word in cut:
            at += len(word)
            starts.add(at)
        found: dict[int, Syllable] = {}
        at = 0
        while at < len(text):
            for length in range(min(4, len(text) - at), 1, -1):
                spelling = readings.PHRASES.get(text[at : at + length])
                inside = not starts.intersection(range(at + 1, at + length))
                if spelling and (inside or (at in starts and at + length in starts)):
                    found |= {at + i: _syllable(s) for i, s in enumerate(spelling.split())}
                    at += length - 1
                    break
            at += 1
        return found

    def _read_word(self, word: str, before: str, after: str) -> list[Syllable]:
        """Reads one word; `before` and `after` are the characters around it, empty at the text's ends."""
        around = f"{before or ' '}{word}{after or ' '}"
        read: list[Syllable] = []
        while len(read) < len(word):
            at = len(read)
            phrase = self._longest_phrase(word[at:])
            if phrase:
                read.extend(self._read_phrase(phrase))
            else:
                read.append(self._read_char(*around[at : at + 3]))
        if word in readings.NEUTRAL_SECOND or (len(word) == 2 and word[1] == "们"):
            read[1] = read[1]._replace(tone=NEUTRAL_TONE)
        if len(word) > 1 and word[-1] == "儿" and word not in readings.FULL_ER:
            read[-1] = read[-1]._replace(tone=NEUTRAL_TONE)
        return [_citation_tone(char, syllable) for char, syllable in zip(word, read, strict=True)]

    def _longest_phrase(self, text: str) -> str:
        ends = range(min(len(text), _LONGEST_PHRASE), 1, -1)
        return next((text[:end] for end in ends if text[:end] in self._phrases), "")

    def _read_phrase(self, phrase: str) -> list[Syllable]:
        read = [read_syllable(options[0]) for options in self._phrases.get(phrase)]
        return [syllable or self._first(char) for syllable, char in zip(read, phrase, strict=True)]

    def _read_char(self, before: str, char: str, after: str) -> Syllable:
        """A character outside any phrase: a few change their reading with their neighbours (space: none)."""
        if char == "得" and before in _MUST_BEFORE and after not in _DONE:
            return Syllable("d", "ei", 3)
        if char == "得" and before in _PRONOUNS:
            return Syllable("d", "e", 2)
        if char == "地" and (after == " " or before in _PLACE_LEADS):
            return Syllable("d", "i", 4)
        if char == "为" and after in _FOR_WHOM:
            return Syllable("w", "ei", 4)
        if char == "只" and before in _COUNTS:
            return Syllable("zh", "i", 1)
        if char == "种" and before in _COUNTS:
            return Syllable("zh", "ong", 3)
        if char == "儿" and before != " ":
            return Syllable("", "er", NEUTRAL_TONE)
        return self._first(char)

    def _first(self, char: str) -> Syllable:
        return Syllable("", "er", NEUTRAL_TONE) if char == SYLLABLE else self.readings(char)[0]


def _citation_tone(char: str, syllable: Syllable) -> Syllable:
    """一 and 不 before their change: some phrases of the table have them changed, others not."""
    if char == "一" and syllable.tone != NEUTRAL_TONE:
        return syllable._replace(tone=1)
    if char == "不" and syllable.tone != NEUTRAL_TONE:
        return syllable._replace(tone=4)
    return syllable


def _syllable(spelling: str) -> Syllable:
    syllable = read_syllable(spelling)
    if syllable is None:
        raise ValueError(f"{spelling!r} is no pinyin")
    return syllable
