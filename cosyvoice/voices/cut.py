"""Which part of a recording becomes the prompt: without silence at its ends, and short enough."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cosyvoice.errors import VoiceError
from cosyvoice.voices import transcript
from cosyvoice.voices.activity import Phrase
from cosyvoice.voices.clip import Clip, Samples

MIN_PROMPT_S, MAX_PROMPT_S = 3.0, 10.0  # longer prompts cost time at every announcement and gain nothing
MAX_SPEECH_S = 30.0  # what the speech tokenizer takes

_LEAD_S, _TAIL_S = 0.1, 0.2  # a breath of room before the first and after the last word
_UNTIL_TOLERANCE_S = 0.5
_SPEECH_DB = -20.0  # a voice speaks as loudly as its prompt; studio prompts lie between -12 and -18
_MAX_PEAK = 0.95


class Cut(NamedTuple):
    """The phrases that are kept, never none."""

    phrases: tuple[Phrase, ...]
    left_out_s: float = 0.0  # from the first to the last word of what was cut off

    @property
    def start_s(self) -> float:
        return self.phrases[0].start_s

    @property
    def end_s(self) -> float:
        return self.phrases[-1].end_s

    @property
    def duration_s(self) -> float:
        return self.end_s - self.start_s

    @property
    def speech_s(self) -> float:
        """Pauses left out."""
        return sum(phrase.duration_s for phrase in self.phrases)


def choose(phrases: Sequence[Phrase], text: str, language: str, until_s: float | None) -> Cut:
    """The part to keep: up to `until_s` of the recording, else all of it where it is short enough.

    A longer recording is cut at a pause only if its transcript is too short for all of it and fits what is
    kept: the words of a prompt must be those that are heard, and nobody here can tell which words to drop.

    Raises:
        VoiceError: nobody speaks, or the person has to say where to cut.
    """
    if not phrases:
        raise VoiceError(["nobody speaks in the recording: see that the right microphone was on"])
    whole = Cut(tuple(phrases))
    if until_s is not None:
        return _until(whole, until_s)
    if whole.duration_s <= MAX_PROMPT_S:
        return whole
    if whole.duration_s > MAX_SPEECH_S:
        raise VoiceError(
            [f"{whole.duration_s:.0f} s of speech are too long: cut out 3 to 10 s, or add --until SECONDS"]
        )
    kept = at_pause(whole)
    if kept is None:
        raise VoiceError([f"{whole.duration_s:.1f} s of speech have no pause to cut at: record 3 to 10 s"])
    if transcript.fits(text, language, kept.speech_s) and not transcript.fits(text, language, whole.speech_s):
        return kept
    raise VoiceError(
        [
            f"{whole.duration_s:.1f} s of speech are too long, 10 s are used: add --until {kept.end_s:.1f}"
            " to cut it in the pause there, and leave in --text only what is said by then"
        ]
    )


def at_pause(whole: Cut) -> Cut | None:
    """The recording up to its longest pause after 3 to 10 s of speech: there a sentence ends, most likely."""
    pauses = [
        (following.start_s - phrase.end_s, index)
        for index, (phrase, following) in enumerate(zip(whole.phrases, whole.phrases[1:], strict=False))
        if MIN_PROMPT_S <= phrase.end_s - whole.start_s <= MAX_PROMPT_S
    ]
    return _first(whole, max(pauses)[1] + 1) if pauses else None


def prompt(clip: Clip, cut: Cut, speech_db: float) -> Samples:
    """The samples (N,) that are kept, with a little room around them, all voices at one loudness."""
    start = max(0, round((cut.start_s - _LEAD_S) * clip.sample_rate_hz))
    kept = clip.samples[start : round((cut.end_s + _TAIL_S) * clip.sample_rate_hz)]
    gain = min(10 ** ((_SPEECH_DB - speech_db) / 20), _MAX_PEAK / float(np.abs(kept).max()))
    return kept * np.float32(gain)


def _until(whole: Cut, until_s: float) -> Cut:
    index = min(range(len(whole.phrases)), key=lambda i: abs(whole.phrases[i].end_s - until_s))
    if abs(whole.phrases[index].end_s - until_s) > _UNTIL_TOLERANCE_S:
        pauses = ", ".join(f"{phrase.end_s:.1f}" for phrase in whole.phrases)
        raise VoiceError([f"there is no pause at {until_s:.1f} s; pauses begin at {pauses} s"])
    kept = _first(whole, index + 1)
    if kept.duration_s > MAX_PROMPT_S:
        raise VoiceError([f"up to {until_s:.1f} s there are {kept.duration_s:.1f} s of speech, 10 are used"])
    return kept


def _first(whole: Cut, count: int) -> Cut:
    rest = whole.phrases[count:]
    return Cut(whole.phrases[:count], rest[-1].end_s - rest[0].start_s if rest else 0.0)
