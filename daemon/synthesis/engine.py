"""What an engine is: text in, sound out, one piece at a time. Engines live in the worker process only."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Samples = npt.NDArray[np.float32]


class SynthesisRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that decides which samples come out; equal requests give equal samples."""

    text: str  # cleaned text, 1 to 2000 characters; annotations included, digits not yet read out
    language: str  # "zh", "en", "ja" or another ISO 639-1 code
    voice: str  # a voice's name
    style: str = "neutral"  # a preset's name or a sentence in natural language
    speed: float = 1.0  # 0.5 to 2.0
    seed: int = 0  # 0 to 2**32 - 1


class VoiceInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A voice as `<n>/voices` and `cosyvoiced voices list` show it."""

    name: str
    engine: str
    languages: tuple[str, ...]  # ISO 639-1; the first is its own
    gender: str  # "f", "m", or "" where it is not told
    description: str = ""


class EngineOptions(NamedTuple):
    """What a worker process is told when it starts."""

    state_dir: Path
    threads: int
    model_dir: Path  # of CosyVoice3
    quality: str  # of CosyVoice3: exact, balanced or fast

    def arguments(self, engine: str) -> tuple[str, ...]:
        """The worker's command line."""
        return (
            *("--engine", engine, "--state", str(self.state_dir), "--threads", str(self.threads)),
            *("--model", str(self.model_dir), "--quality", self.quality),
        )


class EngineError(Exception):
    """The engine cannot say this request; the message is for the user. The engine itself goes on."""


class Piece(msgspec.Struct, frozen=True):
    """One piece of speech, in order; joined, the pieces are the announcement."""

    samples: Any  # (N,) float32 mono, -1.0 to 1.0, at the engine's rate
    degraded: tuple[str, ...] = ()  # what of the request this piece could not honour: "style", "voice", ...


class Engine(Protocol):
    """An engine, loaded once in its worker and then asked for one request after the other."""

    @property
    def name(self) -> str:
        """As the configuration and results name it."""

    @property
    def version(self) -> str:
        """Changes whenever the same request may give other samples; part of the phrase cache's key."""

    @property
    def sample_rate_hz(self) -> int:
        """Of all samples."""

    def load(self, progress: Callable[[str], None]) -> None:
        """Loads all models. `progress` takes a line for a person. Raises `EngineError`."""

    def voices(self) -> list[VoiceInfo]:
        """All voices; callable before `load`."""

    def synthesize(
        self, request: SynthesisRequest, cancelled: Callable[[], bool], gentle: bool = False
    ) -> Iterator[Piece]:
        """Yields the speech piece by piece, each as soon as it is made; stops early once `cancelled()`.

        Args:
            gentle: the device is warm; a heavy engine makes less heat and takes longer.

        Raises:
            EngineError: the request holds nothing that this engine can say.
        """
