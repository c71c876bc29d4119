"""Runs the flow: a mel for all tokens at once, or for those that are there while more are coming."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from cosyvoice.config import MEL_BINS, MEL_FRAMES_PER_TOKEN
from cosyvoice.flow.attention import CHUNK_FRAMES, CHUNKED, WHOLE, Attention
from cosyvoice.flow.denoise import FlowState, at_beginning, denoise
from cosyvoice.flow.flow import Flow
from cosyvoice.flow.kept import Keeping
from cosyvoice.flow.lookahead import AHEAD_TOKENS
from cosyvoice.flow.prompt import FlowPrompt
from cosyvoice.flow.solver import never
from cosyvoice.quality import EXACT, Quality


def prepare_prompt(
    flow: Flow,
    prompt: FlowPrompt,
    quality: Quality,
    keep: Keeping = Keeping.INT8,
    *,
    closed: bool = False,
) -> FlowState:
    """The state after the prompt's finished chunks, which no text can change: for all that the voice says.

    With whole attention, `synthesize` cannot use it and streams can.

    Args:
        flow: the network.
        prompt: the voice; `fitted`, where `closed`.
        quality: the schedule.
        keep: how the past is kept.
        closed: the prompt's last three tokens look ahead at nothing, where they would look at the text. That
            is not quite what was published, and makes the last chunk of the prompt a finished one: a chunk
            less to compute for each announcement.
    """
    state = at_beginning(prompt, quality)
    last = _finished_frames(len(prompt.tokens) + (AHEAD_TOKENS if closed else 0))
    if last > 0:
        _, state = denoise(flow, state, prompt.tokens, last, CHUNKED, keep)
    return state


def synthesize(
    flow: Flow, state: FlowState, tokens: Sequence[int], cancelled: Callable[[], bool] = never
) -> Tensor:
    """The mel of a whole speech: (1, 80, 2 * len(tokens)) float32 log-mel, 50 frames/s.

    Raises:
        GenerationError: the speech is too long.
        Cancelled: `cancelled`, asked between the solver's steps, said so.
    """
    if state.quality.whole_attention:
        return _whole(flow, at_beginning(state.prompt, state.quality), tokens, WHOLE, cancelled)
    return FlowStream(flow, state, cancelled=cancelled).extend(tokens, final=True)


def synthesize_as_published(flow: Flow, prompt: FlowPrompt, tokens: Sequence[int]) -> Tensor:
    """`synthesize` at the quality `exact` with a mask that hides nothing: the yardstick of benchmarks."""
    return _whole(flow, at_beginning(prompt, EXACT), tokens, Attention(None, masked=True), never)


class FlowStream:
    """One speech on its way: its tokens so far, and the state of the frames that they became."""

    def __init__(
        self,
        flow: Flow,
        state: FlowState,
        keep: Keeping = Keeping.INT8,
        cancelled: Callable[[], bool] = never,
    ) -> None:
        """`state`: of `prepare_prompt` or `at_beginning`; `keep`: how finished frames are kept."""
        self._flow = flow
        self._state = state
        self._tokens = state.prompt.tokens
        self._keep = keep
        self._cancelled = cancelled

    @property
    def nbytes(self) -> int:
        """Memory of what is kept, the prompt's part included."""
        return self._state.nbytes

    def extend(self, tokens: Sequence[int], final: bool) -> Tensor:
        """The mel that more tokens make: (1, 80, T) float32 log-mel, 50 frames/s.

        A frame sees up to the end of its chunk of a second, and a token looks three tokens ahead. So T is a
        number of whole chunks, often none, and tokens wait until theirs is full. The final call gives all
        that is left, and ends the stream.

        Raises:
            GenerationError: the speech is too long.
            Cancelled: `cancelled`, asked between the solver's steps, said so; the stream is as it was
                before the call.
        """
        everything = _joined(self._tokens, tokens)
        last = MEL_FRAMES_PER_TOKEN * len(everything) if final else _finished_frames(len(everything))
        first = self._state.past.frames
        mel = torch.zeros(1, MEL_BINS, 0)
        if last > first:
            keep = None if final else self._keep
            frames, self._state = denoise(
                self._flow, self._state, everything, last, CHUNKED, keep, cancelled=self._cancelled
            )
            mel = frames[:, max(0, self._state.prompt.frames - first) :].mT
        self._tokens = everything
        return mel


def _whole(
    flow: Flow, state: FlowState, tokens: Sequence[int], attention: Attention, cancelled: Callable[[], bool]
) -> Tensor:
    everything = _joined(state.prompt.tokens, tokens)
    last = MEL_FRAMES_PER_TOKEN * len(everything)
    mel, _ = denoise(flow, state, everything, last, attention, cancelled=cancelled)
    return mel[:, state.prompt.frames :].mT


def _joined(before: Tensor, tokens: Sequence[int]) -> Tensor:
    return torch.cat((before, torch.tensor(tokens, dtype=torch.long)))


def _finished_frames(tokens: int) -> int:
    """How many frames of that many tokens no further token can change."""
    seen = MEL_FRAMES_PER_TOKEN * max(0, tokens - AHEAD_TOKENS)
    return seen // CHUNK_FRAMES * CHUNK_FRAMES
