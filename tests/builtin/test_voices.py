import pytest

from daemon.synthesis.builtin import voices


@pytest.mark.parametrize(("language", "voice"), [("zh", "zf_xiaoyi"), ("en", "heart"), ("ja", "jf_alpha")])
def test_each_language_has_a_default_voice(language: str, voice: str) -> None:
    assert voices.choose(None, language, "text") == (voice, ())


def test_a_voice_that_speaks_the_language_is_kept() -> None:
    assert voices.choose("zm_yunxia", "en", "Hello") == ("zm_yunxia", ())
    assert voices.choose("jm_kumo", "en", "Hello") == ("jm_kumo", ())


@pytest.mark.parametrize("voice", ["heart", "af_bella", "bm_george", "jf_alpha"])
def test_mandarin_is_left_to_a_mandarin_voice(voice: str) -> None:
    assert voices.choose(voice, "zh", "你好") == ("zf_xiaoyi", ("voice",))


def test_chinese_characters_in_an_english_request_need_a_mandarin_voice() -> None:
    assert voices.choose("heart", "en", "Dinner is ready, 快来吃饭") == ("zf_xiaoyi", ("voice",))
    assert voices.choose(None, "en", "Dinner is ready, 快来吃饭") == ("zf_xiaoyi", ())


def test_a_language_that_no_voice_speaks_is_read_in_english() -> None:
    assert voices.choose(None, "de", "Guten Tag") == ("heart", ("language",))
    assert voices.choose("am_fenrir", "de", "Guten Tag") == ("am_fenrir", ("language",))
    assert voices.reading_language("de", "am_fenrir") == "en"


def test_no_japanese_voice_offers_mandarin() -> None:
    offers = {name for name, voice in voices.VOICES.items() if "zh" in voice.languages}
    assert offers == {"zf_xiaoyi", "zf_xiaoxiao", "zm_yunxia", "zm_yunxi"}


def test_every_mandarin_voice_has_a_share_of_an_english_voice() -> None:
    mandarin = {name for name, voice in voices.VOICES.items() if "zh" in voice.languages}
    assert set(voices.ENGLISH_SHARES) == mandarin
    for share in voices.ENGLISH_SHARES.values():
        assert voices.VOICES[share.voice].languages == ("en",)
        assert 0 <= share.prosody <= share.timbre <= 0.5  # the speaker stays the one that was asked for
