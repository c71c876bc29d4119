"""What is kept of finished frames, so that the frames after them cost only their own work.

In chunk-causal attention a finished chunk never changes again: not its keys and values, and not what the
position convolutions saw of it. A `Past` holds these for every solver step. It is never changed but
replaced by a longer one, which shares what both have in common: so any number of announcements may start
from the one past of a voice's prompt.
"""

from dataclasses import dataclass

from torch import Tensor

from cosyvoice.flow.kept import KeptFrames


@dataclass(frozen=True)
class StepPast:
    """What one solver step keeps; B is 2 where the step is guided, else 1."""

    context: Tensor | None  # (2, B, dim, 30) float32, of the position convolutions
    parts: tuple[KeptFrames, ...]  # one for each time that frames were added

    @property
    def frames(self) -> int:
        return sum(part.frames for part in self.parts)

    def then(self, context: Tensor, part: KeptFrames) -> "StepPast":
        return StepPast(context, (*self.parts, part))


BEGINNING = StepPast(None, ())


@dataclass(frozen=True)
class Past:
    """The finished frames of one speech, from the beginning of its prompt."""

    frames: int
    steps: tuple[StepPast, ...]

    @property
    def nbytes(self) -> int:
        contexts = sum(step.context.nbytes for step in self.steps if step.context is not None)
        return contexts + sum(part.nbytes for step in self.steps for part in step.parts)


def beginning(steps: int) -> Past:
    """The past of a speech that has not begun."""
    return Past(0, (BEGINNING,) * steps)


class Recall:
    """The keys and values of one DiT call: those of the past before the new ones, block after block.

    The blocks take turns with one buffer, and memory holds one block's past in float32 at a time.
    """

    def __init__(self, past: StepPast, kept: KeptFrames | None) -> None:
        """`kept` is filled with the new frames' keys and values."""
        self._past = past
        self._kept = kept
        self._buffer: Tensor | None = None

    def join(self, block: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values (B, past + T, dim) of a block, of the new ones (B, T, dim)."""
        if self._kept is not None:
            self._kept.write(block, k, v)
        if not self._past.parts:
            return k, v
        if self._buffer is None:
            batch, frames, dim = k.shape
            self._buffer = k.new_empty(2, batch, self._past.frames + frames, dim)
        begin = 0
        for part in self._past.parts:
            end = begin + part.frames
            part.read(block, self._buffer[:, :, begin:end])
            begin = end
        self._buffer[0, :, begin:] = k
        self._buffer[1, :, begin:] = v
        return self._buffer[0], self._buffer[1]
