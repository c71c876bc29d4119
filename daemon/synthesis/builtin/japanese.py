"""Japanese text to Kokoro's phonemes, where the optional package pyopenjtalk-plus is installed.

Kokoro-82M v1.0 learnt Japanese in a narrow IPA, word by word: palatalised i-rows, ɨ after sibilants,
ʔ for the small tsu, ː for length, and ん in the place of the consonant that follows it.
"""

from types import ModuleType

from daemon.synthesis.engine import EngineError

_ROWS = {
    **{"アイウエオ": "a i ɯ e o", "カキクケコ": "ka kʲi kɯ ke ko", "ガギグゲゴ": "ɡa ɡʲi ɡɯ ɡe ɡo"},
    **{"サシスセソ": "sa ɕi sɨ se so", "ザジズゼゾ": "ʣa ʥi zɨ ʣe ʣo", "タチツテト": "ta ʨi ʦɨ te to"},
    **{"ダヂヅデド": "da ʥi zɨ de do", "ナニヌネノ": "na ɲi nɯ ne no", "ハヒフヘホ": "ha çi ɸɯ he ho"},
    **{"バビブベボ": "ba bʲi bɯ be bo", "パピプペポ": "pa pʲi pɯ pe po", "マミムメモ": "ma mʲi mɯ me mo"},
    **{"ヤユヨ": "ja jɯ jo", "ラリルレロ": "ɾa ɾʲi ɾɯ ɾe ɾo", "ワヰヱヲ": "βa i e o", "ヴ": "vɯ"},
    **{"ァィゥェォ": "a i ɯ e o", "ャュョヮヵヶ": "ja jɯ jo βa ka ke"},
}
_SINGLES = {
    kana: symbols for row, spelt in _ROWS.items() for kana, symbols in zip(row, spelt.split(), strict=True)
}
_GLIDES = {"ャ": "a", "ュ": "ɨ", "ョ": "o", "ェ": "e"}  # after a kana of the i-row
_SMALL_VOWELS = {"ァ": "a", "ィ": "i", "ゥ": "ɯ", "ェ": "e", "ォ": "o"}
# Foreign syllables: the consonant of the first kana before a small vowel.
_FOREIGN = {"ウ": "β", "ク": "kᵝ", "グ": "ɡᵝ", "ツ": "ʦ", "テ": "t", "デ": "d", "ト": "t", "ド": "d"} | {
    "フ": "ɸ",
    "ヴ": "v",
    "ス": "s",
    "ズ": "z",
    "イ": "j",
}
_PALATALISED_I = frozenset("tdɸvʦ")  # ティ ディ フィ ヴィ ツィ
_FOREIGN_U = {"テュ": "tʲɨ", "デュ": "dʲɨ", "フュ": "ɸʲɨ", "ヴュ": "bʲɨ"}

_SYMBOLS = "記号"
_OPENERS = "（「『(“ "
_ATTACHED = frozenset(("助動詞",))
_ATTACHED_PARTICLES = frozenset("テデ")


class Japanese:
    """Japanese text to phonemes. `load` before use."""

    def __init__(self) -> None:
        self._openjtalk: ModuleType | None = None

    def load(self) -> None:
        """Loads the dictionary. Raises `EngineError` where the extra is not installed."""
        if self._openjtalk is not None:
            return
        try:
            import pyopenjtalk  # not at import: optional, and 150 MiB
        except ImportError as error:
            raise EngineError("Japanese needs an extra package: .venv/bin/pip install -e '.[ja]'") from error
        pyopenjtalk.run_frontend("あ")  # opens the dictionary
        self._openjtalk = pyopenjtalk

    def phonemes(self, text: str) -> str:
        """Phonemes, a space between words; punctuation stays as it is written. Raises `EngineError`."""
        self.load()
        said = ""
        for word in self._openjtalk.run_frontend(text):  # type: ignore[union-attr]  # set by load
            pronunciation = word["pron"].replace("’", "")
            if word["pos"] == _SYMBOLS or not word["mora_size"]:
                said += word["string"]
                continue
            attached = word["pos"] in _ATTACHED or pronunciation in _ATTACHED_PARTICLES
            said += ("" if attached or not said or said[-1] in "（「『(" else " ") + kana_phonemes(
                pronunciation
            )
        return said


def kana_phonemes(kana: str) -> str:
    """A word's katakana pronunciation in Kokoro's symbols; what is no kana is left out."""
    said: list[str] = []
    at = 0
    while at < len(kana):
        pair = _pair(kana[at : at + 2])
        if pair:
            said.append(pair)
            at += 2
            continue
        said.append({"ー": "ː", "ッ": "ʔ", "ン": "ン"}.get(kana[at]) or _SINGLES.get(kana[at], ""))
        at += 1
    for index, symbols in enumerate(said):
        if symbols == "ン":
            said[index] = _nasal(said[index + 1] if index + 1 < len(said) else "")
    return "".join(said)


def _pair(kana: str) -> str:
    """A kana followed by a small one, or nothing."""
    if len(kana) < 2 or kana[1] not in "ャュョァィゥェォ":
        return ""
    if kana in _FOREIGN_U:
        return _FOREIGN_U[kana]
    first = _SINGLES.get(kana[0], "")
    if first.endswith("i") and len(first) > 1 and kana[1] in _GLIDES:
        return first[:-1] + _GLIDES[kana[1]]
    vowel = _SMALL_VOWELS.get(kana[1])
    consonant = _FOREIGN.get(kana[0])
    if vowel is None or consonant is None:
        return ""
    palatal = "ʲ" if vowel == "i" and consonant in _PALATALISED_I else ""
    return consonant + palatal + vowel


def _nasal(following: str) -> str:
    """ん takes the place of articulation of the next consonant."""
    if following[:1] and following[0] in "mpb":
        return "m"
    if following[:1] and following[0] in "kɡ":
        return "ŋ"
    if following[:1] and following[0] in "ɲʨʥ":
        return "ɲ"
    return "n" if following[:1] and following[0] in "ntdɾz" else "ɴ"
