"""Cuts text into pieces that are spoken one after the other."""

import itertools
import re
from typing import NamedTuple

_CJK = r"\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff〇々"
_CLOSERS = r"[”’\"'」』）)】》〉\]]*"
_ATOM = re.compile(
    rf"""
      (?P<annotation>(?:\[[^\[\]\s]{{1,24}}\])+)
    | (?P<number>\d+(?:[.,:/~–-]\d+)*(?:[%℃℉°]|(?:(?![{_CJK}])[^\W\d_])+)*)
    | (?P<word>(?:(?![{_CJK}])[^\W\d_])+(?:['’.&-](?:(?![{_CJK}])[^\W_])+)*)
    | (?P<sentence>(?:[。！？!?…]+|\.+(?=[”’"')]*(?:\s|$))){_CLOSERS})
    | (?P<clause>(?:[，、；：]|[,;:—]+(?=\s|$|[{_CJK}])){_CLOSERS})
    | (?P<space>\s+)
    | (?P<cjk>[{_CJK}])
    | (?P<opener>[“‘「『（(【《〈\[])
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_ABBREVIATIONS = frozenset(
    str.split("mr mrs ms dr st prof no nos vs etc e.g i.e approx dept min max tel fig jr sr")
)

_SPOKEN = frozenset(("cjk", "annotation", "word", "number"))
_BEGINNINGS = frozenset(("cjk", "word", "number", "opener"))  # an annotation stays with what it annotates
_SENTENCE, _CLAUSE, _WORD = 3, 2, 1
_LONE_WEIGHT = 2  # one Latin word, or two Han characters: too short to be spoken alone


class _Break(NamedTuple):
    at: int  # the piece ends before this index
    rank: int


def split(text: str, max_chars: int, first_max_chars: int | None = None) -> list[str]:
    """Pieces of at most `max_chars` that, joined, hold every character of `text` but spaces at the cuts.

    A piece ends at the last sentence end that fits, else at a comma, else between words; inside a
    word, number or annotation only where that alone is longer than `max_chars`. A piece is a lone word
    only where nothing else is possible. With `first_max_chars` the first piece ends at a comma or
    sentence end within that many characters, or at the first one after, so that sound starts early.

    Raises:
        ValueError: a limit below 1.
    """
    if max_chars < 1 or (first_max_chars is not None and first_max_chars < 1):
        raise ValueError("a piece needs at least one character")
    text = text.strip()
    breaks = _breaks(text)
    pieces: list[str] = []
    start = 0
    while start < len(text):
        end = None
        if not pieces and first_max_chars is not None and first_max_chars < len(text):
            end = _early_end(text, breaks, min(first_max_chars, max_chars), max_chars)
        if end is None:
            end = _end(text, breaks, start, max_chars)
        pieces.append(text[start:end].strip())
        start = end + len(text[end:]) - len(text[end:].lstrip())
    return pieces


def sentence_end(text: str) -> int:
    """Where the last whole sentence of a text that still grows ends; 0 while there is none.

    What stands at the very end is never whole: `3.` may become `3.5`, and `。` may become `。”`. Nor is
    a lone word.
    """
    ends = [b.at for b in _breaks(text) if b.rank == _SENTENCE and not _lone(text[: b.at])]
    return ends[-1] if ends else 0


def _breaks(text: str) -> list[_Break]:
    """All places where a cut may be, with how good each is."""
    found: list[_Break] = []
    atoms = list(_ATOM.finditer(text))
    for number, (atom, after) in enumerate(itertools.pairwise(atoms)):
        kind, next_kind = atom.lastgroup, after.lastgroup
        if kind == "sentence":
            before = atoms[number - 1][0].lower() if number else ""
            initial = len(before) == 1 and before.isalpha()
            abbreviated = atom[0] == "." and (initial or before in _ABBREVIATIONS)
            found.append(_Break(atom.end(), _WORD if abbreviated else _SENTENCE))
        elif kind == "clause":
            found.append(_Break(atom.end(), _CLAUSE))
        elif kind == "space":
            if not found or found[-1].at != atom.start() or found[-1].rank < _CLAUSE:
                found.append(_Break(atom.end(), _WORD))
        elif kind in _SPOKEN and next_kind in _BEGINNINGS and {kind, next_kind} & {"cjk", "opener"}:
            found.append(_Break(atom.end(), _WORD))
    return found


def _early_end(text: str, breaks: list[_Break], first_max_chars: int, max_chars: int) -> int | None:
    good = [b.at for b in breaks if b.rank >= _CLAUSE and b.at <= max_chars and not _lone(text[: b.at])]
    within = [at for at in good if _length(text, 0, at) <= first_max_chars]
    return within[-1] if within else good[0] if good else None


def _end(text: str, breaks: list[_Break], start: int, max_chars: int) -> int:
    """Where the piece that begins at `start` ends."""
    if len(text) - start <= max_chars:
        return len(text)
    inside = [b for b in breaks if b.at > start and _length(text, start, b.at) <= max_chars]
    fair = [b for b in inside if not _lone(text[start : b.at]) and not _lone(text[b.at :])]
    for choice in (fair, inside):
        for rank in (_SENTENCE, _CLAUSE, _WORD):
            ends = [b.at for b in choice if b.rank >= rank]
            if ends:
                return ends[-1]
    bracket = text.rfind("][", start, start + max_chars)
    return bracket + 1 if bracket > start else start + max_chars


def _length(text: str, start: int, end: int) -> int:
    return len(text[start:end].strip())


def _lone(text: str) -> bool:
    weight = 0
    for atom in _ATOM.finditer(text):
        weight += {"word": 2, "number": 2, "annotation": 2, "cjk": 1}.get(atom.lastgroup or "", 0)
        if weight > _LONE_WEIGHT:
            return False
    return True
