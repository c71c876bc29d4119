"""The F0 predictor: from mel frames to the pitch of the voice."""

import torch.nn.functional as F
from torch import Tensor, nn

from cosyvoice.config import MEL_BINS, VocoderConfig
from cosyvoice.vocoder.layers import Conv, Memory

LOOK_AHEAD_FRAMES = 3
CONVS = 5
KERNEL = 3  # of all convolutions but the first, which looks ahead


class F0Predictor(nn.Module):
    """Five convolutions and a line, computed in float64.

    In float32 F0 moves by 2e-4 Hz, and otherwise when the frames are cut otherwise. The source adds F0 up to
    a phase, so that cut speech would differ from whole speech by 2e-3. It costs 2 % of the vocoder's time.
    """

    def __init__(self, config: VocoderConfig) -> None:
        super().__init__()
        width = config.channels
        first = Conv(MEL_BINS, width, LOOK_AHEAD_FRAMES + 1)
        others = (Conv(width, width, KERNEL, start=KERNEL - 1) for _ in range(CONVS - 1))
        self.convs = nn.ModuleList([first, *others])
        self.head = Conv(width, 1, 1)

    def forward(self, mel: Tensor, memory: Memory) -> Tensor:
        """mel: (T, 80) -> F0: (N, 1) float32 in Hz, of the N further frames whose look-ahead is there."""
        x = mel.double()
        for conv in self.convs:
            x = F.elu(conv(x, memory), inplace=True)  # (N, channels)
        f0: Tensor = self.head(x, memory).abs().float()
        return f0
