"""The package's errors. Each message is a sentence for the person who has to act on it."""

from collections.abc import Sequence


class CosyVoiceError(Exception):
    """Base of all errors of this package."""


class ModelError(CosyVoiceError):
    """A model folder or a checkpoint cannot be used; `problems` holds one sentence for each fault."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class VoiceError(CosyVoiceError):
    """A clip or a voice profile cannot be used; `problems` holds one sentence for each fault."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class GenerationError(CosyVoiceError):
    """The speech that came out is not the text: it runs away, loops, or falls silent."""
