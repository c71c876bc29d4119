"""The worker's deadlines."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Timings:
    """Generous, since they find what is broken and not what is slow."""

    ready_s: float = 60.0  # process start and model loading; the first start may also join a model
    job_base_s: float = 20.0
    job_per_character_s: float = 0.5  # a Mandarin character takes some 0.25 s to say: an RTF of 2 passes
    silence_s: float = 15.0  # no frame at all, not even an answer to a ping
    cancel_s: float = 2.0
    idle_s: float = 600.0  # then the worker ends and its memory returns

    def slower(self, job_base_s: float, job_per_character_s: float) -> "Timings":
        """The same for an engine that takes its time."""
        return replace(self, job_base_s=job_base_s, job_per_character_s=job_per_character_s)

    def job_s(self, text: str) -> float:
        """How long the engine may take over `text`."""
        return self.job_base_s + self.job_per_character_s * len(text)
