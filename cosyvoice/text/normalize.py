"""Reads out numbers, dates, units and signs as words: wetext's rules, with what they get wrong put right.

`chinese` and `english` rewrite, before wetext sees the text, the kinds that it misreads; annotations
never reach either of them.
"""

import functools
import logging
import re
from collections.abc import Callable

from cosyvoice.text import chinese, english
from cosyvoice.text.annotations import Text, parse

# A fault costs one sentence. Not at a full stop: "Dr. Smith" is read as a whole.
_SENTENCES = re.compile(r"(?<=[。！？；])|(?<=[!?;])(?=\s)")

log = logging.getLogger(__name__)


def normalize(text: str, language: str) -> str:
    """The text as it is read aloud in `language`; only zh and en have rules, others stay as they are.

    Annotations come through in their canonical spelling. A sentence on which the rules fail is left
    as it was, and logged.

    Raises:
        AnnotationError: a bracket that looks like an annotation and is none.
    """
    read = {"zh": _read_chinese, "en": _read_english}.get(language)
    if read is None:
        return "".join(span.raw for span in parse(text))
    said: list[str] = []
    for span in parse(text):
        if isinstance(span, Text):
            said.extend(_read(sentence, read) for sentence in _SENTENCES.split(span.raw))
        else:
            said.append(span.raw)
    return "".join(said)


def load(language: str) -> None:
    """Loads the rules of one language ahead of the first text (0.4 s, 40 MiB, once per process)."""
    if language in ("zh", "en"):
        _rules(language)("1")


def _read(text: str, read: Callable[[str], str]) -> str:
    inner = text.strip()
    if not inner:
        return text
    lead, trail = text[: text.index(inner)], text[text.index(inner) + len(inner) :]
    try:
        return lead + (read(inner) or inner) + trail
    except Exception as error:  # noqa: BLE001
        # wetext asserts on input that its grammar does not cover: unread digits are better than silence.
        log.warning("cannot read out %r (%s), it stays as it is", inner[:80], type(error).__name__)
        return text


def _read_chinese(text: str) -> str:
    return chinese.after(_rules("zh")(chinese.before(text)))


def _read_english(text: str) -> str:
    return english.after(_rules("en")(english.before(text)))


@functools.cache
def _rules(language: str) -> Callable[[str], str]:
    from wetext import Normalizer  # not at import: 40 MiB that the daemon process must not pay

    normalizer = Normalizer(lang=language, operator="tn")
    return lambda text: str(normalizer.normalize(text))
