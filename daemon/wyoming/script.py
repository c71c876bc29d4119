"""From a client's text, whole or still growing, to what is spoken one after the other."""

import re
from collections.abc import Mapping

from cosyvoice.text import annotations, cleanup, language, split
from daemon.errors import AnnouncementError, Code
from daemon.jobs.job import Utterance
from daemon.mqtt.intake import Defaults
from daemon.synthesis.engine import VoiceInfo
from daemon.wyoming.messages import Hint

MAX_CHARACTERS = 10_000  # of one request: some twenty minutes of speech
MAX_UTTERANCE_CHARACTERS = 200  # an announcement may have to wait for one of these
_MAX_GROWING_CHARACTERS = 2 * MAX_UTTERANCE_CHARACTERS  # a sentence longer than this is not waited for

_UNPAIRED_EMPHASIS = re.compile(r"\*\*|__|~~")  # its other half stands in another sentence


class Script:
    """One request's text; what is added comes back as soon as it can be spoken."""

    def __init__(
        self, hint: Hint | None, streamed: bool, defaults: Defaults, voices: Mapping[str, VoiceInfo]
    ) -> None:
        """`defaults` are those of an announcement that says nothing of voice, language and style."""
        self.streamed = streamed
        self._hint = hint or Hint()
        self._defaults = defaults
        self._voices = voices
        self._characters = 0
        self._growing = ""  # the beginning of a sentence
        self._spoken = ""

    def add(self, text: str) -> list[Utterance]:
        """Takes more text; what became whole by it.

        Raises:
            AnnouncementError: `text_too_long`.
        """
        self._characters += len(text)
        if self._characters > MAX_CHARACTERS:
            raise AnnouncementError(Code.TEXT_TOO_LONG, f"the text has more than {MAX_CHARACTERS} characters")
        self._growing = (self._growing + text).lstrip()
        if not self.streamed:
            return []
        end = split.sentence_end(self._growing)
        if end == 0 and len(self._growing) > _MAX_GROWING_CHARACTERS:
            end = len(split.split(self._growing, MAX_UTTERANCE_CHARACTERS)[0])
        whole, self._growing = self._growing[:end], self._growing[end:]
        return self._utterances(whole)

    def end(self) -> list[Utterance]:
        """What is left once no more text comes."""
        rest, self._growing = self._growing, ""
        if not self.streamed and cleanup.is_placeholder(rest):
            return []
        return self._utterances(rest)

    def _utterances(self, raw: str) -> list[Utterance]:
        text = _speakable(raw)
        limit = min(self._defaults.max_text_length, MAX_UTTERANCE_CHARACTERS)
        return [self._utterance(piece) for piece in split.split(text, limit) if cleanup.has_speech(piece)]

    def _utterance(self, text: str) -> Utterance:
        self._spoken += text
        named = choose_voice(self._hint, self._voices)
        voice = named or (None if self._hint.name or self._hint.language else self._defaults.voice)
        own = self._voices[named].languages[0] if named else self._defaults.language
        return Utterance(
            text=text,
            # Of all that was said: an "OK." in a Chinese answer does not change the voice.
            language=spoken_language(self._hint.language) or language.guess(self._spoken, own),
            style=self._defaults.style,
            voice=voice,
            seed=self._defaults.seed,
            speed=1.0,
        )


def choose_voice(hint: Hint, voices: Mapping[str, VoiceInfo]) -> str | None:
    """The voice that a client named; None where there is no such voice: its language's default speaks."""
    return next((name for name in (hint.speaker, hint.name) if name in voices), None)


def spoken_language(tag: str | None) -> str | None:
    """The language alone of a tag such as `zh-CN` or `en_US`."""
    match = re.match(r"([A-Za-z]{2,3})(?![A-Za-z])", tag or "")
    return match[1].lower() if match else None


def _speakable(raw: str) -> str:
    text = _UNPAIRED_EMPHASIS.sub("", cleanup.clean(raw))
    try:
        annotations.parse(text)
    except annotations.AnnotationError:  # an assistant's brackets are no annotations
        text = text.replace("[", " ").replace("]", " ")
    return text
