"""The answer to `describe`."""

from wyoming.info import Info

from daemon import __version__
from daemon.synthesis.builtin.voices import VOICES
from daemon.synthesis.engine import VoiceInfo
from daemon.wyoming.info import info

MAMA = VoiceInfo(name="mama", engine="cosyvoice3", languages=("zh", "en"), gender="f", description="enrolled")


def test_every_voice_is_there_with_its_languages_and_its_makers() -> None:
    (program,) = Info.from_event(info([MAMA, *VOICES.values()]).event()).tts
    assert (program.name, program.version, program.installed) == ("cosyvoiced", __version__, True)
    assert program.supports_synthesize_streaming
    voices = {voice.name: voice for voice in program.voices}
    assert set(voices) == {"mama", *VOICES}
    assert all(voice.installed and voice.version for voice in program.voices)
    assert voices["zf_xiaoyi"].languages == ["zh", "en"]
    makers = {name: voices[name].attribution.name.split(":")[0] for name in ("mama", "heart", "bm_george")}
    assert makers == {"mama": "FunAudioLLM", "heart": "Maureese Williams", "bm_george": "hexgrad"}


def test_a_picker_that_shows_descriptions_alone_still_tells_voices_apart() -> None:
    (program,) = info([MAMA, *VOICES.values()]).tts
    descriptions = [voice.description for voice in program.voices]
    assert "mama (enrolled)" in descriptions
    assert len(set(descriptions)) == len(descriptions)
