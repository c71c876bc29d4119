"""What may be written as a prompt's transcript, and whether it can be what the prompt says.

The standard library only: a web page can check a transcript while it is typed.
"""

import re
from typing import NamedTuple

from cosyvoice.errors import VoiceError
from cosyvoice.text import annotations, cleanup
from cosyvoice.text.language import HAN, KANA
from cosyvoice.voices.findings import Finding, Level

MAX_CHARACTERS = 300  # twice what the fastest speaker says in ten seconds

_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_CYRILLIC_VOWEL = re.compile(r"[аеёиоуыэюяіїє]", re.I)
_LATIN_WORD = re.compile(r"[a-z\u00c0-\u024f]+", re.I)
_LATIN_VOWELS = re.compile(r"[aeiouyà-æè-ïò-öø-üýÿāăąēėęěīįıōőœūůűų]+", re.I)
_DIGIT = re.compile(r"\d")
_SPELT = 4  # letters: TV, USB and HTML are spelt, NATO is too, wrongly but harmlessly


class Rate(NamedTuple):
    """Syllables in a second of speech, pauses left out."""

    slowest: float
    usual_from: float
    usual_to: float
    fastest: float


# Languages are spoken with 4.5 (Thai) to 8 (Japanese) syllables a second, Mandarin and English with near 6:
# Coupé et al. 2019, "Different languages, similar encoding efficiency", doi 10.1126/sciadv.aaw2594.
# Who reads for a recording is slower. Beyond the outer bounds, words must be missing or too many.
_RATES = {"zh": Rate(1.8, 2.5, 7.0, 9.0), "ja": Rate(2.5, 4.0, 10.0, 13.0)}
_RATE = Rate(1.8, 2.5, 8.0, 10.0)


def plain(transcript: str) -> str:
    """The transcript as it is stored: one line, without markup.

    Raises:
        VoiceError: it holds nothing that is said, something that is no plain speech, or too much.
    """
    if "<|" in transcript or "|>" in transcript:
        raise VoiceError(["the transcript holds control tokens (<|...|>): write only what is said"])
    try:
        spans = annotations.parse(transcript)
    except annotations.AnnotationError as error:
        raise VoiceError([f"the transcript holds the bracket {error.bracket}: write what is said"]) from error
    brackets = [span.raw for span in spans if not isinstance(span, annotations.Text)]
    if brackets:
        raise VoiceError([f"the transcript holds the annotation {brackets[0]}: write plain words instead"])
    text = cleanup.clean(transcript)
    if not cleanup.has_speech(text):
        raise VoiceError(["the transcript is empty: write word for word what is said in the recording"])
    if len(text) > MAX_CHARACTERS:
        raise VoiceError(
            [f"the transcript has {len(text)} characters, at most {MAX_CHARACTERS} fit 10 s of speech"]
        )
    return text


def syllables(text: str) -> int:
    """About how many syllables (Japanese: morae) are said: a guess good to a fifth or so."""
    whole = sum(len(sign.findall(text)) for sign in (HAN, KANA, _HANGUL, _CYRILLIC_VOWEL, _DIGIT))
    return whole + sum(map(_latin_syllables, _LATIN_WORD.findall(text)))


def fits(text: str, language: str, speech_s: float) -> bool:
    """Whether the text may be what is said in that much speech, pauses left out."""
    rate = _RATES.get(language, _RATE)
    return rate.slowest * speech_s <= syllables(text) <= rate.fastest * speech_s


def check(text: str, language: str, speech_s: float) -> Finding:
    """Holds the length of the text against the length of the speech, pauses left out."""
    rate = _RATES.get(language, _RATE)
    spoken = syllables(text) / speech_s
    what = f"{syllables(text)} syllables in {speech_s:.1f} s of speech, {spoken:.1f} a second"
    level: Level = "note" if rate.slowest <= spoken <= rate.fastest else "problem"
    if spoken < rate.usual_from:
        return Finding("transcript", level, what, "see that no word is missing in --text")
    if spoken > rate.usual_to:
        return Finding("transcript", level, what, "see that --text has only what is heard")
    if _DIGIT.search(text):
        return Finding("transcript", "note", "it has digits", "write numbers in words, as they are spoken")
    return Finding("transcript", "ok", what)


def _latin_syllables(word: str) -> int:
    """Groups of vowels, less a silent final e; an abbreviation is spelt."""
    if 1 < len(word) <= _SPELT and word.isupper():
        return len(word)
    groups = len(_LATIN_VOWELS.findall(word))
    is_silent = groups > 1 and word.lower().endswith("e") and not word.lower().endswith(("le", "ee"))
    return max(1, groups - is_silent)
