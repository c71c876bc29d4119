"""The built-in voices and who speaks what. Pure data: the daemon process reads it too."""

from typing import NamedTuple

from daemon.synthesis.engine import VoiceInfo

ENGINE = "builtin"
DEFAULT_VOICE = {"zh": "zf_xiaoyi", "en": "heart", "ja": "jf_alpha"}
FALLBACK_LANGUAGE = "en"  # for what no voice speaks


def _voice(name: str, gender: str, languages: tuple[str, ...], description: str) -> VoiceInfo:
    return VoiceInfo(name=name, engine=ENGINE, languages=languages, gender=gender, description=description)


# Japanese voices speak Mandarin at 12 to 18 % character error, so "zh" is not among their languages.
VOICES: dict[str, VoiceInfo] = {
    voice.name: voice
    for voice in (
        _voice("heart", "f", ("en",), "American, the fastest"),
        _voice("zf_xiaoyi", "f", ("zh", "en"), "Mandarin, clearest"),
        _voice("zf_xiaoxiao", "f", ("zh", "en"), "Mandarin, warm"),
        _voice("zm_yunxia", "m", ("zh", "en"), "Mandarin, young"),
        _voice("zm_yunxi", "m", ("zh", "en"), "Mandarin, adult"),
        _voice("af_heart", "f", ("en",), "American, warm"),
        _voice("af_bella", "f", ("en",), "American, lively"),
        _voice("am_michael", "m", ("en",), "American, calm"),
        _voice("am_fenrir", "m", ("en",), "American, firm"),
        _voice("bf_emma", "f", ("en",), "British"),
        _voice("bm_george", "m", ("en",), "British"),
        _voice("jf_alpha", "f", ("ja", "en"), "Japanese"),
        _voice("jm_kumo", "m", ("ja", "en"), "Japanese"),
    )
}


class Share(NamedTuple):
    """Another voice and its weight, 0 to 1, in the two halves of a Kokoro voice."""

    voice: str
    timbre: float  # also how clearly sounds are made
    prosody: float  # durations and melody


# Mandarin voices alone make English sounds that are hardly understood, so an announcement with English
# in it is spoken, from its first word to its last, with a share of an English voice near in pitch.
# The weights are those that the listener of tests/listen understood best; the pitch moves by a tenth.
ENGLISH_SHARES: dict[str, Share] = {
    "zf_xiaoyi": Share("af_heart", timbre=0.5, prosody=0.3),
    "zf_xiaoxiao": Share("af_heart", timbre=0.5, prosody=0.3),
    "zm_yunxia": Share("af_heart", timbre=0.5, prosody=0.3),  # a boy's pitch: no man's voice is near
    "zm_yunxi": Share("am_michael", timbre=0.5, prosody=0.3),
}


def choose(requested: str | None, language: str, text: str) -> tuple[str, tuple[str, ...]]:
    """The voice that speaks `text`, and what of the request it cannot honour.

    A voice that does not speak the language gives way to the language's default ("voice"); a language
    that no voice speaks is read by an English voice ("language"). An unknown name counts as no request:
    names are checked at intake.
    """
    known = VOICES.get(requested or "")
    if language not in DEFAULT_VOICE:
        fits = known is not None and FALLBACK_LANGUAGE in known.languages
        voice = known.name if known is not None and fits else DEFAULT_VOICE[FALLBACK_LANGUAGE]
        return voice, ("language",)
    if language == "en" and _has_han(text):
        language = "zh"
    if known is None:
        return DEFAULT_VOICE[language], ()
    if language in known.languages:
        return known.name, ()
    return DEFAULT_VOICE[language], ("voice",)


def reading_language(language: str, voice: str) -> str:
    """The language whose rules read the text: the request's own where the voice speaks it."""
    return language if language in VOICES[voice].languages else VOICES[voice].languages[-1]


def _has_han(text: str) -> bool:
    return any("\u4e00" <= character <= "\u9fff" for character in text)
