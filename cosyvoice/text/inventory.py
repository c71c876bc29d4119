"""The annotation tokens that CosyVoice3's tokenizer knows, and the pinyin spelling that leads to them."""

import unicodedata
from typing import NamedTuple

TAGS = frozenset(
    str.split(
        "breath noise laughter cough clucking accent quick_breath hissing sigh vocalized-noise lipsmack mn"
    )
)

_ARPABET_VOWELS = str.split("AA AE AH AO AW AY EH ER EY IH IY OW OY UH UW")
_ARPABET_CONSONANTS = str.split("B CH D DH F G HH JH K L M N NG P R S SH T TH V W Y Z ZH")
ARPABET = frozenset(_ARPABET_CONSONANTS) | {v + stress for v in _ARPABET_VOWELS for stress in ("", *"012")}

INITIALS = frozenset(str.split("b c ch d f g h j k l m n p q r s sh t w x y z zh"))

# Tone by tone, as the tokenizer has them: several are missing (no neutral "ui", no first-tone "er" or "ü").
FINALS = frozenset(
    str.split("""
    a ai an ang ao e ei en eng i ian in ing iu o ong ou u uang ue un uo
    ā āi ān āng āo ē ēi ēn ēng ī iā iān iāng iāo iē īn īng iōng iū ō ōng ōu ū uā uāi uān uāng uē uī ūn uō
    á ái án áng áo é éi én éng ér í iá ián iáng iáo ié ín íng ióng iú ó óng óu ú uá uái uán uáng ué uí ún uó ǘ
    ǎ ǎi ǎn ǎng ǎo ě ěi ěn ěng ěr ǐ iǎ iǎn iǎng iǎo iě ǐn ǐng iǒng iǔ ǒ ǒng ǒu ǔ uǎ uǎi uǎn uǎng uě uǐ ǔn uǒ ǚ
    à ài àn àng ào è èi èn èng èr ì ià iàn iàng iào iè ìn ìng iòng iù ò òng òu ù uà uài uàn uàng uè uì ùn uò
    ǜ vè
    """)
)

TOKENS = TAGS | ARPABET | INITIALS | FINALS

_TONE_MARKS = {"\u0304": 1, "\u0301": 2, "\u030c": 3, "\u0300": 4}  # macron, acute, caron, grave
_MARKS = {tone: mark for mark, tone in _TONE_MARKS.items()}
NEUTRAL_TONE = 5

# A syllable without an initial is spelt with y or w unless its final begins with a, e or o.
_BARE_FINALS = frozenset(str.split("a ai an ang ao e ei en eng er o ou"))
_ALL_FINALS = frozenset(
    str.split("""a ai an ang ao e ei en eng er i ia ian iang iao ie in ing iong iu o ong ou
    u ua uai uan uang ue ui un uo v ve""")
)


class Syllable(NamedTuple):
    """A Mandarin syllable in ASCII: `final` has v for ü, `tone` is 1 to 5 (5 is the neutral tone)."""

    initial: str
    final: str
    tone: int

    def __str__(self) -> str:
        return f"{self.initial}{self.final}{self.tone}"


def read_syllable(spelling: str) -> Syllable | None:
    """Reads `hǎo`, `hao3`, `lüè` or `lve4`; None when it is no pinyin. Unmarked is tone 5."""
    letters, tone = _take_tone(spelling)
    initial = next((letters[:n] for n in (2, 1) if letters[:n] in INITIALS), "")
    final = letters[len(initial) :]
    if tone == 0 or final not in (_ALL_FINALS if initial else _BARE_FINALS):
        return None
    if initial and initial in "jqxy" and final.startswith("v"):
        final = "u" + final[1:]  # ü is spelt u after j q x y
    if initial in ("l", "n") and final == "ue":
        final = "ve"
    return Syllable(initial, final, tone)


def tokens_of(syllable: Syllable) -> tuple[str, ...]:
    """The syllable's tokens, without brackets; they need not all be in `TOKENS`."""
    final = _marked(syllable.final, syllable.tone)
    return (syllable.initial, final) if syllable.initial else (final,)


def _take_tone(spelling: str) -> tuple[str, int]:
    """The letters without tone, ü as v, and the tone; tone 0 where the spelling has two of them."""
    letters, tones = "", []
    for char in unicodedata.normalize("NFD", spelling):
        if char in _TONE_MARKS:
            tones.append(_TONE_MARKS[char])
        elif char == "\u0308" and letters.endswith("u"):
            letters = letters[:-1] + "v"
        else:
            letters += char
    if letters[-1:] in tuple("012345"):
        tones.append(int(letters[-1]) or NEUTRAL_TONE)
        letters = letters[:-1]
    if len(tones) > 1:
        return letters, 0
    return letters, tones[0] if tones else NEUTRAL_TONE


def _marked(final: str, tone: int) -> str:
    """The final with its tone mark in its place: on a or e, on the o of ou, else on the last vowel."""
    if tone == NEUTRAL_TONE:
        return final.replace("v", "ü")
    vowels = [i for i, char in enumerate(final) if char in "aeiouv"]
    at = next((i for i in vowels if final[i] in "ae"), None)
    if at is None:
        at = final.find("o") if "ou" in final else vowels[-1]
    letter = "ü" if final[at] == "v" else final[at]
    return final[:at] + unicodedata.normalize("NFC", letter + _MARKS[tone]) + final[at + 1 :]
