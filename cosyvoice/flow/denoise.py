"""Turns noise into the mel of a span of frames: the network, the solver and what is past, together."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from cosyvoice.config import MEL_FRAMES_PER_S
from cosyvoice.errors import GenerationError
from cosyvoice.flow.attention import CHUNKED, Attention
from cosyvoice.flow.flow import Flow
from cosyvoice.flow.kept import Keeping
from cosyvoice.flow.noise import published_noise
from cosyvoice.flow.past import BEGINNING, Past, beginning
from cosyvoice.flow.prompt import FlowPrompt
from cosyvoice.flow.solver import Halves, never, solve
from cosyvoice.quality import Quality

# Prompt and speech together: three times those of the longest piece of text after the longest prompt.
START_FRAMES = 40 * MEL_FRAMES_PER_S


@dataclass(frozen=True)
class FlowState:
    """How far a speech has come: its voice, its schedule and its finished frames. It is never changed."""

    prompt: FlowPrompt
    quality: Quality
    past: Past

    @property
    def nbytes(self) -> int:
        """Memory of the past: at full size and in int8, 2.4 MB for a second and half-evaluation."""
        return self.past.nbytes


def at_beginning(prompt: FlowPrompt, quality: Quality) -> FlowState:
    """The state of a speech of which nothing is done."""
    return FlowState(prompt, quality, beginning(quality.steps))


def unconditional_start(flow: Flow, frames: int = START_FRAMES) -> Tensor:
    """The unconditional velocity at time 0, which no voice and no text changes: (1, frames, 80) float32.

    In chunk-causal attention it is a constant of the network, so a prepared one has it as `Flow.start` and
    never computes this half of the first step again.
    """
    x = published_noise()[:, :frames]
    modulation = flow.modulations.at(0.0)
    velocity: Tensor = flow.dit(x, flow.nothing_given(frames), modulation, CHUNKED, BEGINNING)[0]
    return velocity


def denoise(
    flow: Flow,
    state: FlowState,
    tokens: Tensor,
    last: int,
    attention: Attention,
    keep: Keeping | None = None,
    noise: Tensor | None = None,
    cancelled: Callable[[], bool] = never,
) -> tuple[Tensor, FlowState]:
    """The mel from the end of the state's past up to the frame `last`.

    Args:
        flow: the network.
        state: the voice and what is past.
        tokens: (N,) int64, the prompt's and the new ones, those to look ahead at included.
        last: where to stop, between two tokens; frames count from the beginning of the prompt.
        attention: who sees whom.
        keep: how to add the frames to the past; None leaves the state as it is.
        noise: (1, last or more, 80) float32; None for the published one.
        cancelled: asked between the solver's steps.

    Returns:
        (1, T, 80) float32 log-mel, and the state for the frames that follow.

    Raises:
        GenerationError: more frames than there is noise for, or a start.
        Cancelled: `cancelled` said so.
    """
    quality, first = state.quality, state.past.frames
    start = flow.start if noise is None and attention == CHUNKED else None
    noise = published_noise() if noise is None else noise
    limit = noise.shape[1] if start is None else start.shape[1]
    if last > limit:
        raise GenerationError(f"{last} frames of speech, prompt included: more than {limit} are too many")
    given = flow.given(state.prompt, tokens, first, last)  # (2, T, dim)
    steps = list(state.past.steps)

    def velocity(step: int, x: Tensor) -> Halves:
        guided = step < quality.guided_steps
        known = start[:, first:last] if guided and step == 0 and start is not None else None
        halves = given if guided and known is None else given[:1]
        modulation = flow.modulations.at(quality.times[step])
        v, steps[step] = flow.dit(x, halves, modulation, attention, steps[step], keep)
        return v[:1], known if len(v) == 1 else v[1:]

    mel = solve(velocity, noise[:, first:last], quality, cancelled)
    if keep is None:
        return mel, state
    return mel, FlowState(state.prompt, quality, Past(last, tuple(steps)))
