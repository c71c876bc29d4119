"""The encoder of the speech tokens: each looks three tokens ahead and two back."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from cosyvoice.config import MEL_BINS
from cosyvoice.layers import Conv1d

AHEAD_TOKENS = 3
BEHIND_TOKENS = 2
_LEAK = 0.01  # the slope that PyTorch's LeakyReLU has by default; the network was trained with it


class LookAhead(nn.Module):
    """Two convolutions over time, the second a causal one, and the input added to their output."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = Conv1d(MEL_BINS, channels, AHEAD_TOKENS + 1)
        self.conv2 = Conv1d(channels, MEL_BINS, BEHIND_TOKENS + 1)

    def forward(self, x: Tensor, behind: int) -> Tensor:
        """Encodes the tokens between what lies behind and what lies ahead.

        Args:
            x: (1, behind + N + 3, 80) embedded tokens; the last three are looked at only.
            behind: how many of the tokens lie before the first one wanted, 0 to 2; fewer than 2 is the
                beginning of the speech.

        Returns:
            (1, N, 80).
        """
        h = F.leaky_relu(self.conv1(x.mT), _LEAK)  # (1, channels, behind + N)
        h = self.conv2(F.pad(h, (BEHIND_TOKENS - behind, 0))).mT  # (1, N, 80)
        return torch.add(h, x[:, behind : x.shape[1] - AHEAD_TOKENS])
