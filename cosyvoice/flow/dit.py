"""The diffusion transformer: which way, and how fast, each mel frame has to move.

B: 1 or 2, the guidance halves (conditional, unconditional)    dim: 1024
T: the frames of this call                                     L: those and the past's
"""

from functools import partial

import torch
from torch import Tensor, nn

from cosyvoice.config import MEL_BINS, FlowConfig
from cosyvoice.flow.attention import Attention
from cosyvoice.flow.blocks import Block, modulated_norm
from cosyvoice.flow.embeddings import PositionConv, rotary
from cosyvoice.flow.kept import Keeping, room
from cosyvoice.flow.modulation import FINAL_ROWS, ROWS_PER_BLOCK
from cosyvoice.flow.past import Recall, StepPast
from cosyvoice.layers import Linear

GIVEN_CHANNELS = 3 * MEL_BINS  # the prompt's mel, the encoded tokens, the speaker


class DiT(nn.Module):
    """The velocity of noisy mel frames at one solver time."""

    def __init__(self, config: FlowConfig) -> None:
        super().__init__()
        self.config = config
        # One linear as published, cut in two: what is given is the same at each step.
        self.noisy = Linear(MEL_BINS, config.dim, bias=False)
        self.given = Linear(GIVEN_CHANNELS, config.dim)
        self.position = PositionConv(config.dim)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.depth))
        self.out = Linear(config.dim, MEL_BINS)

    def forward(
        self,
        x: Tensor,
        given: Tensor,
        modulation: Tensor,
        attention: Attention,
        past: StepPast,
        keep: Keeping | None = None,
    ) -> tuple[Tensor, StepPast]:
        """The velocity of frames that follow the past.

        Args:
            x: (1, T, 80) float32, the noisy mel.
            given: (B, T, dim), what `self.given` made of the conditions.
            modulation: (6 * depth + 2, dim), that of the time.
            attention: who sees whom.
            past: this step's finished frames.
            keep: how to add these frames to the past; None leaves it as it is.

        Returns:
            (B, T, 80) float32 and the past for the frames that follow.
        """
        h = self.noisy(x) + given  # (B, T, dim)
        position, context = self.position(h, past.context)
        h = h + position
        batch, frames, _ = h.shape
        config = self.config
        kept = None
        if keep is not None:
            kept = room(keep, config.depth, batch, frames, config.heads, config.head_dim)
        recall = Recall(past, kept)
        turns = rotary(past.frames, past.frames + frames, config.head_dim)
        *of_blocks, final = torch.split(modulation, [ROWS_PER_BLOCK] * len(self.blocks) + [FINAL_ROWS])
        for index, (block, rows) in enumerate(zip(self.blocks, of_blocks, strict=True)):
            h = block(h, rows, turns, partial(self._attend, recall, attention, index))
        scale, shift = final
        velocity = self.out(modulated_norm(h, scale, shift))  # (B, T, 80)
        return velocity, past if kept is None else past.then(context, kept)

    def _attend(
        self, recall: Recall, attention: Attention, block: int, q: Tensor, k: Tensor, v: Tensor
    ) -> Tensor:
        return attention.attend(q, *recall.join(block, k, v), self.config.heads)
