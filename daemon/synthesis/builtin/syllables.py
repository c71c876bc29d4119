"""Pinyin syllables in the phoneme alphabet that Kokoro-82M v1.0 learnt Mandarin with.

IPA after Duanmu, The Phonology of Standard Chinese (2007), one symbol per affricate, the tone as an
arrow behind the main vowel: → ↗ ↓ ↘ for tones 1 to 4, nothing for the neutral tone.
"""

from cosyvoice.text.inventory import Syllable

_ARROWS = {1: "→", 2: "↗", 3: "↓", 4: "↘", 5: ""}

_INITIALS = {
    "": "",
    **{"b": "p", "p": "pʰ", "m": "m", "f": "f", "d": "t", "t": "tʰ", "n": "n", "l": "l"},
    **{"g": "k", "k": "kʰ", "h": "x", "j": "ʨ", "q": "ʨʰ", "x": "ɕ", "r": "ɻ"},
    **{"zh": "ꭧ", "ch": "ꭧʰ", "sh": "ʂ", "z": "ʦ", "c": "ʦʰ", "s": "s"},
}

# Glide, main vowel, coda: the tone's arrow goes before the coda. v is ü.
_FINALS: dict[str, tuple[str, str]] = {
    **{"a": ("a", ""), "ai": ("ai", ""), "an": ("a", "n"), "ang": ("a", "ŋ"), "ao": ("au", "")},
    **{"e": ("ɤ", ""), "ei": ("ei", ""), "en": ("ə", "n"), "eng": ("ə", "ŋ"), "er": ("ɚ", "")},
    **{"i": ("i", ""), "ia": ("ja", ""), "ian": ("jɛ", "n"), "iang": ("ja", "ŋ"), "iao": ("jau", "")},
    **{"ie": ("je", ""), "in": ("i", "n"), "ing": ("i", "ŋ"), "iong": ("jʊ", "ŋ"), "iu": ("jou", "")},
    **{"o": ("wo", ""), "ong": ("ʊ", "ŋ"), "ou": ("ou", "")},
    **{"u": ("u", ""), "ua": ("wa", ""), "uai": ("wai", ""), "uan": ("wa", "n"), "uang": ("wa", "ŋ")},
    **{"ui": ("wei", ""), "un": ("wə", "n"), "uo": ("wo", ""), "ueng": ("wə", "ŋ")},
    **{"v": ("y", ""), "ue": ("ɥe", ""), "ve": ("ɥe", ""), "van": ("ɥɛ", "n"), "vn": ("y", "n")},
}

# What y and w spell: the syllable without an initial.
_Y_FINALS = {
    **{"i": "i", "a": "ia", "an": "ian", "ang": "iang", "ao": "iao", "e": "ie", "in": "in", "ing": "ing"},
    **{"ong": "iong", "ou": "iu", "u": "v", "ue": "ve", "uan": "van", "un": "vn", "o": "o"},
}
_W_FINALS = {
    **{"u": "u", "a": "ua", "ai": "uai", "an": "uan", "ang": "uang", "ei": "ui", "en": "un"},
    **{"eng": "ueng", "o": "uo"},
}
_BUZZED = frozenset(str.split("zh ch sh r z c s"))  # their i is a syllabic continuation of the consonant


def phonemes(syllable: Syllable) -> str:
    """The syllable in Kokoro's symbols."""
    initial, final, tone = syllable
    vowel, coda = ("ɔ", "") if initial + final == "o" else _nucleus(initial, final)
    consonant = "" if initial in ("y", "w") else _INITIALS[initial]
    return consonant + vowel + _ARROWS[tone] + coda


def _nucleus(initial: str, final: str) -> tuple[str, str]:
    if initial == "y":
        final = _Y_FINALS.get(final, final)
    elif initial == "w":
        final = _W_FINALS.get(final, final)
    elif initial in ("j", "q", "x") and final in ("u", "ue", "uan", "un"):
        final = "v" + final[1:]
    if final == "i" and initial in _BUZZED:
        return "ɨ", ""
    return _FINALS[final]
