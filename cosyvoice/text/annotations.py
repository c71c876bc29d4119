"""Bracket annotations in a text: pinyin `[h][ào]`, ARPAbet `[M][AY0][N][UW1][T]`, sounds `[laughter]`.

The canonical spelling is the one that CosyVoice3's tokenizer knows; people also write whole syllables
(`[xíng]`, `[hao4]`), which are rewritten to it.
"""

import difflib
import re
from dataclasses import dataclass

from cosyvoice.text.inventory import (
    ARPABET,
    INITIALS,
    TAGS,
    TOKENS,
    Syllable,
    read_syllable,
    tokens_of,
)

# Latin letters with digits and joiners, no space, no other script: 24 holds every token with room for typos.
_BRACKET = re.compile(r"\[([A-Za-z0-9\u00C0-\u024F\u0300-\u030C_'-]{1,24})\]")
_LATIN = re.compile(r"[A-Za-z\u00C0-\u024F]")


class AnnotationError(ValueError):
    """A bracket that looks like an annotation and is none; `bracket` is what stands in the text."""

    def __init__(self, bracket: str, reason: str, nearest: str | None) -> None:
        hint = f"; the nearest valid one is {nearest}" if nearest else ""
        super().__init__(f"{bracket} {reason}{hint}")
        self.bracket = bracket
        self.nearest = nearest


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text between annotations."""

    raw: str


@dataclass(frozen=True, slots=True)
class Pinyin:
    """One Mandarin syllable."""

    raw: str
    syllable: Syllable


@dataclass(frozen=True, slots=True)
class Arpabet:
    """One English word, phone by phone."""

    raw: str
    phones: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tag:
    """A sound that is no word: laughter, a breath."""

    raw: str
    name: str


Span = Text | Pinyin | Arpabet | Tag


def parse(text: str) -> tuple[Span, ...]:
    """Cuts `text` at its annotations; the spans' `raw` joined give the canonical text.

    `[1]`, `[会议]` and `[see below]` are ordinary prose and stay text: no annotation holds only digits,
    another script or a space. One Latin word in brackets can only be a mistyped annotation, or would be
    mistaken for one by the model, so it is an error rather than something said at random.

    Raises:
        AnnotationError: a bracket with one Latin word that is no annotation.
    """
    brackets = [match for match in _BRACKET.finditer(text) if _LATIN.search(match[1])]
    spans: list[Span] = []
    at = 0
    index = 0
    while index < len(brackets):
        first = brackets[index]
        run = 1
        last = first
        while index + run < len(brackets) and brackets[index + run].start() == last.end():
            last = brackets[index + run]
            run += 1
        if first.start() > at:
            spans.append(Text(text[at : first.start()]))
        spans.extend(_read_run([match[1] for match in brackets[index : index + run]]))
        at = last.end()
        index += run
    if at < len(text):
        spans.append(Text(text[at:]))
    return tuple(spans)


def canonical(text: str) -> str:
    """`text` with every annotation in the model's own spelling. Raises `AnnotationError`."""
    return "".join(span.raw for span in parse(text))


def _read_run(names: list[str]) -> list[Span]:
    """Reads brackets that stand side by side."""
    spans: list[Span] = []
    index = 0
    while index < len(names):
        span, used = _read_one(names, index)
        spans.append(span)
        index += used
    return spans


def _read_one(names: list[str], index: int) -> tuple[Span, int]:
    name = names[index]
    if name in ARPABET:
        end = index
        while end < len(names) and names[end] in ARPABET:
            end += 1
        phones = tuple(names[index:end])
        return Arpabet(_brackets(phones), phones), end - index
    if name in INITIALS and index + 1 < len(names):
        syllable = read_syllable(name + names[index + 1])
        if syllable is not None:
            return _pinyin(f"[{name}][{names[index + 1]}]", syllable), 2
    if name.lower() in TAGS:
        return Tag(_brackets((name.lower(),)), name.lower()), 1
    return _read_whole(name), 1


def _read_whole(name: str) -> Pinyin:
    """A syllable in one bracket. Its tone must be there, else `[can]` and `[women]` would pass for pinyin."""
    bracket = f"[{name}]"
    if name in INITIALS:
        raise AnnotationError(bracket, "needs a final after it", None)
    syllable = read_syllable(name.lower())
    if syllable is None or (syllable.initial and name.isascii() and name.isalpha()):
        raise AnnotationError(bracket, "is no annotation", _nearest(name))
    return _pinyin(bracket, syllable)


def _pinyin(bracket: str, syllable: Syllable) -> Pinyin:
    tokens = tokens_of(syllable)
    if not TOKENS.issuperset(tokens):
        others = (syllable._replace(tone=tone) for tone in (1, 4, 2, 3, 5))
        nearest = next((t for t in map(tokens_of, others) if TOKENS.issuperset(t)), None)
        raise AnnotationError(bracket, "has no token in this tone", _brackets(nearest) if nearest else None)
    return Pinyin(_brackets(tokens), syllable)


def _nearest(name: str) -> str | None:
    """The annotation most like `name`, in brackets."""
    toned = read_syllable(name.lower())
    if toned is not None:
        return _brackets(tokens_of(toned._replace(tone=4)))
    by_folded = {token.casefold(): token for token in sorted(TOKENS)}
    found = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.0)
    return f"[{by_folded[found[0]]}]" if found else None


def _brackets(names: tuple[str, ...]) -> str:
    return "".join(f"[{name}]" for name in names)
