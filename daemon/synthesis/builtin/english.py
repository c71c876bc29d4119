"""English text and ARPAbet to the phonemes that Kokoro and hibari share (misaki's alphabet)."""

import gzip
import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import hibari.g2p
from hibari.g2p import G2P, Lexicon, Tagger, Tokenizer
from hibari.g2p.normalize import normalize

from daemon.synthesis.builtin.packed import PackedTable

_ARPABET = {
    **{"AA": "ɑ", "AE": "æ", "AH": "ʌ", "AO": "ɔ", "AW": "W", "AY": "I", "EH": "ɛ", "ER": "ɜɹ", "EY": "A"},
    **{"IH": "ɪ", "IY": "i", "OW": "O", "OY": "Y", "UH": "ʊ", "UW": "u"},
    **{
        "B": "b",
        "CH": "ʧ",
        "D": "d",
        "DH": "ð",
        "F": "f",
        "G": "ɡ",
        "HH": "h",
        "JH": "ʤ",
        "K": "k",
        "L": "l",
    },
    **{"M": "m", "N": "n", "NG": "ŋ", "P": "p", "R": "ɹ", "S": "s", "SH": "ʃ", "T": "t", "TH": "θ", "V": "v"},
    **{"W": "w", "Y": "j", "Z": "z", "ZH": "ʒ"},
}
_REDUCED = {"AH0": "ə", "ER0": "əɹ"}  # the two vowels that change their quality without stress
_STRESS = {"1": "ˈ", "2": "ˌ"}

# Latin letters that Unicode does not decompose into a base letter and a mark.
_FOLDED = str.maketrans(
    {"ß": "ss", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L"}
    | {"đ": "d", "Đ": "D", "ð": "th", "Ð": "Th", "þ": "th", "Þ": "Th", "ı": "i", "ħ": "h", "Ħ": "H"}
)
_LONE_A = re.compile(r"((?<![\w'])[Aa](?![\w']))")
_WORD = re.compile(r"[^\W\d_]+")


def arpabet_phonemes(phones: Iterable[str]) -> str:
    """One word's ARPAbet phones in misaki's alphabet; the stress mark stands before the vowel."""
    return "".join(
        _STRESS.get(phone[-1], "") + _REDUCED.get(phone, _ARPABET[phone.rstrip("012")]) for phone in phones
    )


class English:
    """English text to phonemes. `load` before use."""

    def __init__(self) -> None:
        self._g2p: G2P | None = None

    @property
    def g2p(self) -> G2P:
        """hibari's converter with packed tables; `hibari.Hibari(g2p=...)` takes it too."""
        self.load()
        return self._g2p

    def load(self) -> None:
        """Packs the lexicon and the tagger, about 0.7 s."""
        if self._g2p is None:
            self._g2p = _PackedG2P()

    def phonemes(self, parts: Sequence[str | tuple[str, ...]], letters: bool = False) -> str:
        """Phonemes of a stretch of English: texts, and words given as tuples of ARPAbet phones.

        With `letters` a lone "A" is the letter, as in a Chinese sentence, and not the article.
        """
        if letters:
            parts = [
                word for part in parts for word in (_letter_a(part) if isinstance(part, str) else [part])
            ]
        marked = "".join(self._prepared(part) if isinstance(part, str) else _link(part) for part in parts)
        return str(self.g2p(marked, normalize_text=False))

    def _prepared(self, text: str) -> str:
        """hibari's reading of numbers and abbreviations, without the outer spaces being lost."""
        inner = text.strip()
        if not inner:
            return text
        lead, trail = text[: text.index(inner)], text[text.index(inner) + len(inner) :]
        return lead + _WORD.sub(self._in_ascii, normalize(inner)) + trail

    def _in_ascii(self, match: re.Match[str]) -> str:
        """Words such as Tür without their marks, since the converter would drop the letter; café it knows."""
        word = match[0]
        if word.isascii() or self.g2p.lexicon.is_known(word, None):
            return word
        decomposed = unicodedata.normalize("NFD", word.translate(_FOLDED))
        return "".join(char for char in decomposed if not unicodedata.combining(char))


class _PackedG2P(G2P):  # type: ignore[misc]  # hibari ships no types
    """hibari's G2P over packed tables: 20 MiB instead of 100, the same phonemes."""

    def __init__(self) -> None:
        assets = Path(hibari.g2p.ASSETS)
        gold, _ = PackedTable.from_json(_gunzip(assets / "lexicon_us_gold.json.gz"))
        silver, _ = PackedTable.from_json(_gunzip(assets / "lexicon_us_silver.json.gz"))
        self.lexicon = Lexicon(gold, silver, False)
        self.tokenizer = Tokenizer(json.loads((assets / "tokenizer_exceptions.json").read_text("utf-8")))
        self.tagger = Tagger(_packed_members(_gunzip(assets / "tagger.json.gz")))
        self._oov = None
        self.unk = ""
        self.british = False


def _packed_members(text: str) -> dict[str, Any]:
    """A JSON object with its own object members packed."""
    decoder = json.JSONDecoder()
    members: dict[str, Any] = {}
    at = text.index("{") + 1
    while (at := _next_token(text, at)) < len(text) and text[at] != "}":
        key, at = decoder.raw_decode(text, at)
        at = _next_token(text, at)
        members[key], at = (
            PackedTable.from_json(text, at) if text[at] == "{" else decoder.raw_decode(text, at)
        )
    return members


def _next_token(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n:,":
        at += 1
    return at


def _gunzip(path: Path) -> str:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.read()


def _letter_a(text: str) -> list[str | tuple[str, ...]]:
    return [("EY1",) if part in ("A", "a") else part for part in _LONE_A.split(text) if part]


def _link(phones: tuple[str, ...]) -> str:
    """hibari's spelling of a word with given phonemes; the word itself is not read."""
    return f"[word](/{arpabet_phonemes(phones)}/)"
