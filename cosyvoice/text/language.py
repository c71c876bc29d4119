"""Guesses a text's language from its script."""

import re

from cosyvoice.text.annotations import AnnotationError, Pinyin, Text, parse

HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff〇]")
KANA = re.compile(r"[\u3041-\u3096\u30a1-\u30fa\u31f0-\u31ff\uff66-\uff9d]")

_SCRIPTS = (
    ("ja", KANA),  # before Han, since Japanese has both
    ("zh", HAN),
    ("ko", re.compile(r"[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]")),
    ("ru", re.compile(r"[\u0400-\u052f]")),
    ("en", re.compile(r"[A-Za-z\u00c0-\u024f]")),
)


def guess(text: str, fallback: str) -> str:
    """The language as an ISO 639-1 code: zh, ja, ko, ru, en, or `fallback` where no letter tells.

    A single Han or kana character decides, however much Latin text stands around it: product and
    room names are Latin in Chinese sentences, and hardly ever the other way round.
    """
    try:
        spans = parse(text)
    except AnnotationError:  # the caller's matter; the language is plain all the same
        spans = (Text(text),)
    plain = "".join(span.raw for span in spans if isinstance(span, Text))
    for language, script in _SCRIPTS[:2]:
        if script.search(plain):
            return language
    if any(isinstance(span, Pinyin) for span in spans):
        return "zh"
    return next((language for language, script in _SCRIPTS[2:] if script.search(plain)), fallback)
