"""A job: one accepted announcement with every choice made, as the journal keeps it."""

from enum import StrEnum
from typing import Literal

import msgspec

from daemon.clock import Moment
from daemon.hermes.messages import Asker
from daemon.synthesis.engine import SynthesisRequest

Output = Literal["speaker", "file", "both"]


class Priority(StrEnum):
    """Speech Dispatcher's five priorities, highest first."""

    IMPORTANT = "important"
    MESSAGE = "message"
    TEXT = "text"
    NOTIFICATION = "notification"
    PROGRESS = "progress"


class Utterance(msgspec.Struct, frozen=True, kw_only=True):
    """What is said, and how: all of a request that its speech follows from."""

    text: str  # cleaned, 1 to max_text_length characters; none where there is a `sound`
    language: str
    style: str
    voice: str | None  # None: the default voice of the language
    seed: int
    speed: float

    def synthesis_request(self, voice: str) -> SynthesisRequest:
        return SynthesisRequest(
            text=self.text,
            language=self.language,
            voice=voice,
            style=self.style,
            speed=self.speed,
            seed=self.seed,
        )


class Sound(msgspec.Struct, frozen=True, kw_only=True):
    """A sound that came with the request; the phrase cache keeps it."""

    key: str
    sample_rate_hz: int
    duration_s: float


class Job(Utterance, frozen=True, kw_only=True):
    """One accepted announcement."""

    id: str  # as the sender named it, or made up; echoed in every result
    volume: int | None  # None: the volume set when it is spoken
    priority: Priority
    chime: str | None
    repeat: int
    repeat_pause_s: float
    ttl_s: float
    output: Output
    reply_to: str | None
    correlation_data: bytes | None
    accepted_at: Moment
    fingerprint: str = ""  # of the delivery, to know it again when the broker repeats it
    sound: Sound | None = None  # played instead of any speech
    asker: Asker | None = None  # is answered in Rhasspy's words, besides

    def expires_in_s(self, now: Moment) -> float:
        """Seconds until it is stale; zero or less once it is."""
        return self.ttl_s - now.seconds_since(self.accepted_at)
