"""PyTorch's layers without first values: ours come from a checkpoint.

Values drawn to be thrown away would cost seconds and a gigabyte; and on the meta device, where a network is
built before it is filled, PyTorch would load a quarter of itself (1 s, 75 MB) to pretend to draw them.
"""

from torch import nn


class Linear(nn.Linear):
    """(..., in_features) -> (..., out_features)."""

    def reset_parameters(self) -> None:
        """Leaves them as they are."""


class Embedding(nn.Embedding):
    """Ids (...) -> (..., embedding_dim)."""

    def reset_parameters(self) -> None:
        """Leaves them as they are."""


class Conv1d(nn.Conv1d):
    """(B, in_channels, T) -> (B, out_channels, T)."""

    def reset_parameters(self) -> None:
        """Leaves them as they are."""
