"""Cuts a text into runs that one converter says: Han, Latin, kana, marks, and scripts that none can say."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from cosyvoice.text.annotations import Arpabet, Pinyin, Span, Tag, Text
from cosyvoice.text.inventory import Syllable
from daemon.synthesis.builtin.mandarin import SYLLABLE

_LATIN = r"A-Za-z0-9\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
_RUN = re.compile(
    rf"""
      (?P<han>[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff〇々]+)
    | (?P<kana>[\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9f]+)
    | (?P<latin>[{_LATIN}](?:[{_LATIN}\x20-\x7e\u00a0-\u00bf’–]*)?)
    | (?P<marks>(?:[\W_](?<![{_LATIN}]))+)
    | (?P<foreign>.)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(slots=True)
class Han:
    """Characters for the Mandarin (or Japanese) converter, with the readings that annotations set."""

    text: str = ""
    given: dict[int, Syllable] = field(default_factory=dict)


@dataclass(slots=True)
class Latin:
    """Words for the English converter: text, and words given in ARPAbet."""

    parts: list[str | tuple[str, ...]] = field(default_factory=list)


@dataclass(slots=True)
class Kana:
    text: str


@dataclass(slots=True)
class Marks:
    """Punctuation, signs and spaces."""

    text: str


@dataclass(slots=True)
class Unsayable:
    """`what` is how results name the loss: "language" for a script, "tag" for a sound."""

    what: str


Run = Han | Latin | Kana | Marks | Unsayable


def runs(spans: tuple[Span, ...], readings: Callable[[str], tuple[Syllable, ...]]) -> list[Run]:
    """The runs of a piece of text, in order; `readings` tells a character's possible readings."""
    found: list[Run] = []
    for span in spans:
        last = found[-1] if found else None
        match span:
            case Tag():
                found.append(Unsayable("tag"))
            case Arpabet(phones=phones):
                if not isinstance(last, Latin):
                    last = Latin()
                    found.append(last)
                last.parts.append(phones)
            case Pinyin(syllable=syllable):
                if not isinstance(last, Han):
                    last = Han()
                    found.append(last)
                _give(last, syllable, readings)
            case Text(raw=raw):
                for match in _RUN.finditer(raw):
                    _append(found, match.lastgroup or "", match[0])
    return found


def _give(run: Han, syllable: Syllable, readings: Callable[[str], tuple[Syllable, ...]]) -> None:
    """Sets the reading of the character before, where it has that reading, else adds a syllable.

    CosyVoice3's own format puts the syllable in the character's place (爱[h][ào]); people also write it
    behind the character (好[h][ào]奇), which must not be said twice.
    """
    at = len(run.text) - 1
    if at < 0 or at in run.given or syllable not in readings(run.text[at]):
        run.text += SYLLABLE
        at += 1
    run.given[at] = syllable


def _append(found: list[Run], kind: str, text: str) -> None:
    last = found[-1] if found else None
    if kind == "han":
        if isinstance(last, Han):
            last.text += text
        else:
            found.append(Han(text))
    elif kind == "latin" or (kind == "marks" and text.isascii() and isinstance(last, Latin)):
        if isinstance(last, Latin):
            last.parts.append(text)
        else:
            found.append(Latin([text]))
    elif kind == "kana":
        found.append(Kana(text))
    elif kind == "marks":
        found.append(Marks(text))
    else:
        found.append(Unsayable("language"))
