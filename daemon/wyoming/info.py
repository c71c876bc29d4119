"""What the server tells of itself: the answer to `describe`."""

from collections.abc import Iterable

from wyoming.info import Attribution, Info, TtsProgram, TtsVoice

from daemon import __version__
from daemon.synthesis import cosyvoice3
from daemon.synthesis.engine import VoiceInfo

PROGRAM = "cosyvoiced"  # Home Assistant names its entity after it: tts.cosyvoiced

_KOKORO = Attribution("hexgrad: Kokoro-82M", "https://github.com/hexgrad/kokoro")
_HIBARI = Attribution("Maureese Williams: hibari-tts", "https://github.com/MMWilliams/hibari")
_COSYVOICE = Attribution("FunAudioLLM: CosyVoice", "https://github.com/FunAudioLLM/CosyVoice")
_OWN = Attribution("cosyvoiced", "")


def info(voices: Iterable[VoiceInfo]) -> Info:
    """One program with all voices; it takes text as it is being written."""
    return Info(
        tts=[
            TtsProgram(
                name=PROGRAM,
                attribution=_OWN,
                installed=True,
                description="Offline voices of this device",
                version=__version__,
                voices=[_voice(voice) for voice in voices],
                supports_synthesize_streaming=True,
            )
        ]
    )


def _voice(voice: VoiceInfo) -> TtsVoice:
    # Home Assistant's picker shows the description alone, so the name is part of it.
    return TtsVoice(
        name=voice.name,
        attribution=_attribution(voice),
        installed=True,
        description=f"{voice.name} ({voice.description})" if voice.description else voice.name,
        version=__version__,
        languages=list(voice.languages),
    )


def _attribution(voice: VoiceInfo) -> Attribution:
    if voice.engine == cosyvoice3.NAME:
        return _COSYVOICE
    return _HIBARI if voice.name == "heart" else _KOKORO
