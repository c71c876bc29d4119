"""The whole network, from speech tokens and a voice to velocities of mel frames.

T: mel frames, two for each speech token    N: speech tokens
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from cosyvoice.config import MEL_BINS, MEL_FRAMES_PER_TOKEN, SPEAKER_DIM, SPEECH_CODEBOOK, FlowConfig
from cosyvoice.flow.dit import DiT
from cosyvoice.flow.lookahead import AHEAD_TOKENS, BEHIND_TOKENS, LookAhead
from cosyvoice.flow.modulation import Modulations
from cosyvoice.flow.prompt import FlowPrompt
from cosyvoice.layers import Embedding, Linear


class Flow(nn.Module):
    """Its weights; `stream` runs it."""

    start: Tensor | None

    def __init__(self, config: FlowConfig, modulations: Modulations, start_frames: int = 0) -> None:
        """Makes the layout of the published network, or that of a prepared one.

        Args:
            config: the sizes.
            modulations: a `ComputedModulations`; in a prepared network a `TabulatedModulations`.
            start_frames: of a prepared network, the frames of its `denoise.unconditional_start`.
        """
        super().__init__()
        self.tokens = Embedding(SPEECH_CODEBOOK, MEL_BINS)
        self.speaker = Linear(SPEAKER_DIM, MEL_BINS)
        self.look_ahead = LookAhead(config.look_ahead_channels)
        self.dit = DiT(config)
        self.modulations = modulations
        start = torch.empty(1, start_frames, MEL_BINS) if start_frames else None
        self.register_buffer("start", start)

    def given(self, prompt: FlowPrompt, tokens: Tensor, first: int, last: int) -> Tensor:
        """What the DiT is told of the frames [first, last): (2, T, dim), the unconditional half second.

        Both ends lie between two tokens. `tokens`: (N,), the prompt's and the new ones; the three after the
        last frame's are looked ahead at, and zeros where there are none.
        """
        mu = self._encode(tokens, first // MEL_FRAMES_PER_TOKEN, last // MEL_FRAMES_PER_TOKEN)
        mu = mu.repeat_interleave(MEL_FRAMES_PER_TOKEN, dim=1)  # (1, T, 80)
        cond = torch.zeros_like(mu)  # (1, T, 80)
        known = prompt.mel[first:last]
        cond[0, : len(known)] = known
        speaker = self.speaker(F.normalize(prompt.embedding, dim=0)).expand_as(mu)  # (1, T, 80)
        conditional = self.dit.given(torch.cat((cond, mu, speaker), dim=-1))  # (1, T, dim)
        return torch.cat((conditional, self.nothing_given(last - first)))

    def nothing_given(self, frames: int) -> Tensor:
        """What the DiT is told without conditions: (1, frames, dim), of zeros only the bias is left."""
        return self.dit.given.bias.expand(1, frames, -1)

    def _encode(self, tokens: Tensor, first: int, last: int) -> Tensor:
        """The tokens [first, last), encoded: (1, last - first, 80)."""
        begin = max(0, first - BEHIND_TOKENS)
        x = self.tokens(tokens[begin : last + AHEAD_TOKENS])[None]
        missing = last + AHEAD_TOKENS - begin - x.shape[1]
        encoded: Tensor = self.look_ahead(F.pad(x, (0, 0, 0, missing)), first - begin)
        return encoded
