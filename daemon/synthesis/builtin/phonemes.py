"""The one entrance of the text front end: text in, pieces of Kokoro's phonemes out."""

import json
import logging
import re
from collections.abc import Collection
from importlib.resources import files
from typing import NamedTuple

from cosyvoice.text import normalize
from cosyvoice.text.annotations import Span, Text, parse
from cosyvoice.text.inventory import Syllable
from cosyvoice.text.language import HAN
from cosyvoice.text.split import split
from daemon.synthesis.builtin.english import English
from daemon.synthesis.builtin.japanese import Japanese
from daemon.synthesis.builtin.mandarin import Mandarin
from daemon.synthesis.builtin.scripts import Han, Kana, Latin, Marks, Run, Unsayable, runs
from daemon.synthesis.engine import EngineError

log = logging.getLogger(__name__)

SENTENCE_PAUSE_S = 0.25
CLAUSE_PAUSE_S = 0.12

_SYMBOLS_PER_HAN = 6  # measured: 5.4 with tone arrow and word space
_SYMBOLS_PER_OTHER = 1.3  # measured: English 1.1
_LANGUAGES = frozenset(("zh", "en", "ja"))

_MARKS = {
    **dict.fromkeys("，、", ", "),
    **dict.fromkeys("。．｡", ". "),
    **{"！": "! ", "：": ": ", "；": "; ", "？": "? ", "—": "— ", "–": "— ", "…": "… "},
    **dict.fromkeys("《〈「『【", " “"),
    **dict.fromkeys("》〉」』】", "” "),
    **{"（": " (", "）": ") ", "(": " (", ")": ") ", "“": " “", "”": "” "},
    **{mark: mark + " " for mark in ";:,.!?"},
}
_MARK_TABLE = str.maketrans(_MARKS)
_TEXT_ARROWS = str.maketrans(dict.fromkeys("→↗↓↘", ", "))  # a reader's arrow would pass for a tone
_STRESS_MARKS = "ˈˌ"  # of the three converters, the English one alone writes them
_NOT_SPOKEN = frozenset(' ;:,.!?—…"()“”')
_HAN_DIGITS = str.maketrans("0123456789", "零一二三四五六七八九")
_SPACES = re.compile(r"\s+")
_SPACE_BEFORE_MARK = re.compile(r"\s+(?=[;:,.!?”)…])")
_REPEATED_MARK = re.compile(r"([;:,.!?—…])(?:\s*\1)+")
_ENDS_SENTENCE = re.compile(r"[。！？!?….][”’\"'」』)）】》〉]*$")
_ENDS_CLAUSE = re.compile(r"[，、；：,;:—][”’\"'」』)）】》〉]*$")


class PhonemePiece(NamedTuple):
    """One piece of speech."""

    text: str  # as it is read, annotations included
    phonemes: str  # in Kokoro's alphabet, one token per character
    pause_s: float  # silence after the piece; 0 after the last
    degraded: tuple[
        str, ...
    ] = ()  # "tag": a sound was left out; "language": a script or language was not spoken

    @property
    def holds_english(self) -> bool:
        """Whether an English word is said; unstressed ones alone ("the") do not count."""
        return any(mark in self.phonemes for mark in _STRESS_MARKS)


class Phonemizer:
    """Mandarin, English and, with its extra, Japanese text to phonemes."""

    def __init__(self) -> None:
        self._mandarin = Mandarin()
        self._english = English()
        self._japanese = Japanese()
        self._vocabulary: frozenset[str] = frozenset()

    @property
    def english(self) -> English:
        """The English converter; its `g2p` serves hibari too, so that the tables are loaded once."""
        return self._english

    def load(self, languages: Collection[str]) -> None:
        """Loads the converters ahead of the first text. Raises `EngineError`."""
        self._read_vocabulary()
        for language in languages:
            normalize.load(language)
        if "zh" in languages:
            self._mandarin.load()
        if "en" in languages:
            self._english.load()
        if "ja" in languages:
            self._japanese.load()

    def pieces(
        self, text: str, language: str, max_tokens: int, first_max_chars: int | None = None
    ) -> list[PhonemePiece]:
        """Reads out, splits and converts `text`; no piece has more than `max_tokens` symbols.

        `first_max_chars` lets the first piece be shorter, so that sound starts sooner.

        Raises:
            AnnotationError: a bracket that looks like an annotation and is none.
            EngineError: nothing is left that can be said.
        """
        self._read_vocabulary()
        said: list[PhonemePiece] = []
        lost: set[str] = set()
        text = normalize.normalize(text.translate(_TEXT_ARROWS), language)
        for piece in self._convert(text, language, max_tokens, first_max_chars):
            lost.update(piece.degraded)
            if any(symbol not in _NOT_SPOKEN for symbol in piece.phonemes):
                said.append(piece._replace(degraded=tuple(sorted(lost))))
                lost.clear()
        if not said:
            raise EngineError("nothing in this text can be spoken by the built-in voices")
        last = said[-1]
        said[-1] = last._replace(pause_s=0.0, degraded=tuple(sorted(lost.union(last.degraded))))
        return said

    def _convert(
        self, text: str, language: str, max_tokens: int, first_max_chars: int | None
    ) -> list[PhonemePiece]:
        """Splits by characters, and once more where a piece turns out to hold too many symbols."""
        max_chars = max(1, int(max_tokens / _symbols_per_char(text)))
        converted: list[PhonemePiece] = []
        for part in split(text, max_chars, first_max_chars):
            phonemes, degraded = self._say(part, language)
            if len(phonemes) <= max_tokens:
                converted.append(PhonemePiece(part, phonemes, _pause_s(part), degraded))
            elif len(part) > 1 and (smaller := split(part, (len(part) + 1) // 2))[1:]:
                for half in smaller:
                    converted.extend(self._convert(half, language, max_tokens, None))
            else:  # one word that cannot be cut as text
                cuts = range(0, len(phonemes), max_tokens)
                converted.extend(
                    PhonemePiece(part, phonemes[at : at + max_tokens], 0.0, degraded) for at in cuts
                )
        return converted

    def _say(self, text: str, language: str) -> tuple[str, tuple[str, ...]]:
        """Phonemes of one piece, and what of it was left out."""
        said: list[str] = []
        lost = set() if language in _LANGUAGES else {"language"}
        for span in _joined(parse(text), language):
            if isinstance(span, str):
                said.append(self._japanese.phonemes(span).translate(_MARK_TABLE))
                continue
            for run in runs(span, self._readings):
                phonemes, missing = self._say_run(run, language)
                said.append(phonemes)
                lost.update(missing)
        return self._tidy(" ".join(said)), tuple(sorted(lost))

    def _say_run(self, run: Run, language: str) -> tuple[str, tuple[str, ...]]:
        match run:
            case Unsayable(what=what):
                return "", (what,)
            case Marks(text=text):
                return text.translate(_MARK_TABLE), ()
            case Latin(parts=parts):
                return self._english.phonemes(parts, letters=language == "zh"), ()
            case Kana(text=text):
                return self._say_kana(text)
            case Han(text=text, given=given):
                known = [at for at, char in enumerate(text) if at in given or self._readings(char)]
                kept = "".join(text[at] for at in known)
                moved = {index: given[at] for index, at in enumerate(known) if at in given}
                return self._mandarin.phonemes(kept, moved), () if kept == text else ("language",)

    def _say_kana(self, text: str) -> tuple[str, tuple[str, ...]]:
        """Kana in a sentence of another language: said where Japanese is installed."""
        try:
            return self._japanese.phonemes(text), ()
        except EngineError as error:
            log.warning("left out %r: %s", text[:20], error)
            return "", ("language",)

    def _readings(self, char: str) -> tuple[Syllable, ...]:
        self._mandarin.load()
        return self._mandarin.readings(char)

    def _tidy(self, phonemes: str) -> str:
        phonemes = "".join(symbol for symbol in phonemes if symbol in self._vocabulary)
        phonemes = _SPACE_BEFORE_MARK.sub("", _SPACES.sub(" ", phonemes))
        return _REPEATED_MARK.sub(r"\1", phonemes).strip()

    def _read_vocabulary(self) -> None:
        if not self._vocabulary:
            data = files("daemon.synthesis.builtin") / "data" / "kokoro_vocab.json"
            self._vocabulary = frozenset(json.loads(data.read_text("utf-8")))


def _joined(spans: tuple[Span, ...], language: str) -> list[tuple[Span, ...] | str]:
    """Japanese text as strings, which its converter wants whole; everything else as spans.

    In Chinese, digits that the rules left unread are read one by one.
    """
    if language == "ja":
        return [span.raw if isinstance(span, Text) else (span,) for span in spans]
    if language == "zh":
        spans = tuple(Text(s.raw.translate(_HAN_DIGITS)) if isinstance(s, Text) else s for s in spans)
    return [spans]


def _symbols_per_char(text: str) -> float:
    han = len(HAN.findall(text))
    return (han * _SYMBOLS_PER_HAN + (len(text) - han) * _SYMBOLS_PER_OTHER) / max(1, len(text))


def _pause_s(text: str) -> float:
    if _ENDS_SENTENCE.search(text):
        return SENTENCE_PAUSE_S
    return CLAUSE_PAUSE_S if _ENDS_CLAUSE.search(text) else 0.0
