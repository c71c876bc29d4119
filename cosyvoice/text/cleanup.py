"""Makes text that was written for the eye speakable: markup, emoji and control characters go.

Standard library only, and linear in the length of any input: it runs in the daemon, on whatever a
stranger may publish.
"""

import html
import re
import unicodedata

from cosyvoice.text.inventory import TAGS
from cosyvoice.text.language import HAN

_CONTROL_TOKEN = re.compile(r"<\|[^<>|]*\|>")
_CONTROL_REST = re.compile(r"[<|>]{2,}")
_CONTROL_PASSES = 4  # tokens nested deeper than this are no accident: their marks go, their words stay

_COMMENT = re.compile(r"<!--[^<>]*-->|<!\[CDATA\[|\]\]>|<[?!][A-Za-z][^<>]*>")
_ATTRIBUTE = r"""\s+[\w:.-]+(?:\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=]+))"""
_TAG = re.compile(rf"</?([A-Za-z][\w:.-]*)(?:{_ATTRIBUTE})*\s*/?>")
_PAUSING_TAGS = frozenset(str.split("br p div li tr h1 h2 h3 h4 h5 h6 ul ol table hr td th break s"))

_RULE = re.compile(r"^[ \t]*(?:[-*_][ \t]*){3,}$", re.M)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w+-]*[ \t]*$", re.M)
_LINE_START = re.compile(
    r"^[ \t]*(?:>[ \t]+)?(?:#{1,6}[ \t]+|[-*+•·][ \t]+(?:\[[ xX]\][ \t]+)?|>[ \t]+)", re.M
)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:[ \t]+[^()]*)?\)")
_EMPHASIS = (
    re.compile(r"\*\*([^*\n]+)\*\*"),
    re.compile(r"(?<![\w*])\*(?![\s*])([^*\n]+)(?<!\s)\*(?![\w*])"),
    re.compile(r"(?<![\w_])__?(?![\s_])([^_\n]+)(?<!\s)__?(?![\w_])"),
    re.compile(r"~~([^~\n]+)~~"),
)
_URL = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:https?|ftp)://(?:www\.)?|www\.)([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*)"
    r"(?:[:/?#][^\s<>\u2e80-\uffff]*(?<![.,;:!?)]))?"
)
_FREE_AMPERSAND = re.compile(r"(?<!\S)[&＆](?!\S)|(?<=[\u3400-\u9fff])[ ]?[&＆][ ]?(?=[\u3400-\u9fff])")
_WIDE_IN_NUMBER = re.compile(r"(?<=[0-9])[：．／](?=[0-9])")
_SPACE = re.compile(r"\s+")
_PLACEHOLDER = re.compile(r"\s*(?:none|null|unknown|unavailable)\s*", re.I)
_SOUND = re.compile(rf"\[(?:{'|'.join(sorted(TAGS))})\]", re.I)

_WIDE = {ord("！") + i: chr(ord("!") + i) for i in range(94)}  # full-width ASCII, U+FF01 to U+FF5E
_KEPT_WIDE = frozenset("！（），：；？．／［］｛｝")  # Chinese punctuation, which the Chinese rules want
_SPOKEN_SYMBOLS = frozenset("°℃℉№㎎㎏㎜㎝㎞㎡㎥㏄㎖㎗㎘㏒㎐㎑㎒㎓㎾㎉")  # category So, yet read aloud


class _Characters(dict[int, str | None]):
    """Decides once per character what `str.translate` makes of it."""

    def __missing__(self, code: int) -> str | None:
        self[code] = decided = _decide(chr(code))
        return decided


def _decide(char: str) -> str | None:
    category = unicodedata.category(char)
    if char.isspace() or category in ("Zl", "Zp"):
        return "\n" if char in "\n\r\v\f\x85\u2028\u2029" else " "
    if category in ("Cc", "Cf", "Cs", "Co", "Cn", "Me") or (category == "So" and char not in _SPOKEN_SYMBOLS):
        return None
    if "\ufe00" <= char <= "\ufe0f" or "\U0001f3fb" <= char <= "\U0001f3ff" or char >= "\U000e0100":
        return None  # variation selectors and skin tones
    if "①" <= char <= "⑳":
        return str(ord(char) - ord("①") + 1)
    if ord(char) in _WIDE and char not in _KEPT_WIDE:
        return _WIDE[ord(char)]
    return char


_CHARACTERS = _Characters()


def clean(text: str) -> str:
    """Text as it should be spoken, in one line; empty when nothing is left."""
    for _ in range(2):  # Home Assistant's templates encode what an integration encoded already
        text = html.unescape(text)
    text = _without_control_tokens(text)
    text = _TAG.sub(_tag_pause, _COMMENT.sub(" ", text))
    text = unicodedata.normalize("NFC", text).translate(_CHARACTERS)
    text = _WIDE_IN_NUMBER.sub(lambda match: _WIDE[ord(match[0])], text)
    text = _without_markdown(text)
    dot, conjunction = (" 点 ", "和") if HAN.search(text) else (" dot ", "and")
    text = _URL.sub(lambda match: f" {match[1].replace('.', dot)} ", text)
    text = _FREE_AMPERSAND.sub(conjunction, text)
    # Only now: dropping characters or tags may have brought the parts of a token together again.
    text = _without_control_tokens(text)
    return _SPACE.sub(" ", text).strip()


def has_speech(text: str) -> bool:
    """Whether a letter or digit is there to be said; sounds such as `[laughter]` are not speech."""
    return any(char.isalnum() for char in _SOUND.sub("", text))


def is_placeholder(text: str) -> bool:
    """Whether the whole text is what Home Assistant renders for a missing value."""
    return _PLACEHOLDER.fullmatch(text) is not None


def _without_control_tokens(text: str) -> str:
    for _ in range(_CONTROL_PASSES):
        if "<|" not in text:
            break
        text = _CONTROL_TOKEN.sub("", text)
    return _CONTROL_REST.sub(lambda run: "" if "<|" in run[0] or "|>" in run[0] else run[0], text)


def _tag_pause(match: re.Match[str]) -> str:
    return "\n" if match[1].lower() in _PAUSING_TAGS else ""


def _without_markdown(text: str) -> str:
    text = _LINE_START.sub("", _FENCE.sub("", _RULE.sub("", text)))
    text = _LINK.sub(r"\1", text)
    for emphasis in _EMPHASIS:
        text = emphasis.sub(r"\1", text)
    return text.replace("`", "")
