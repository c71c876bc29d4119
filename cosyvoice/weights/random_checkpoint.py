"""Random weights in the published layout: they cost what the real ones cost, and speak nonsense.

The values are such that the network stays alive: activations keep their size from layer to layer, the
vocoder makes a moderate noise with a human pitch, and the language model says this and that and comes to an
end.
"""

import math
import mmap
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from cosyvoice.config import SPEECH_CODEBOOK, ModelConfig
from cosyvoice.weights.networks import NETWORKS, Network
from cosyvoice.weights.rules import Shape

_WINDOW_BYTES = 256 * 2**20  # written before the mapping is given back


class Values(NamedTuple):
    """A uniform distribution by its mean and its standard deviation."""

    mean: float
    std: float


# The first pattern that a published name matches decides. Other biases are `_BIAS`, and other weights keep
# the size of what they are multiplied with.
_SPECIAL: Mapping[str, Mapping[str, Values]] = {
    "llm": {
        r".*norm\.weight": Values(1.0, 0.1),
    },
    "flow": {
        r"input_embedding\.weight": Values(0.0, 1.0),  # as large as the noise, so that the tokens are heard
        # Log-mel of speech lies about -6; the solver adds up the velocity, whose mean this is.
        r"decoder\.estimator\.proj_out\.bias": Values(-6.0, 0.5),
    },
    "vocoder": {
        r".*alpha": Values(1.0, 0.1),
        r".*original0": Values(0.65, 0.05),  # the length of a channel's weight: its gain
        r"f0_predictor\.classifier\.bias": Values(180.0, 0.0),  # Hz
        r"f0_predictor\.classifier\.weight": Values(0.0, 10.0),
    },
}
_BIAS = Values(0.0, 0.02)
# Every id from the codebook's end on ends the speech. As likely as any other, 3 % of the tokens would end it;
# a little more keeps short texts from running into the upper bound.
_STOP_GAIN = 1.1
# Published as one tensor under two names, so the file holds it once.
_TIED = {"llm.model.lm_head.weight": "llm.model.model.embed_tokens.weight"}


def write(folder: Path, config: ModelConfig, seed: int) -> None:
    """Writes the three checkpoints. Raises `OSError`."""
    for network in NETWORKS:
        _write_checkpoint(folder / network.published_file, network, config, seed)


def total_bytes(config: ModelConfig) -> int:
    """Of the values of the three."""
    shapes = (_untied(network.published(config)) for network in NETWORKS)
    return sum(4 * math.prod(shape) for network in shapes for shape in network.values())


def _untied(shapes: Mapping[str, Shape]) -> dict[str, Shape]:
    return {name: shape for name, shape in shapes.items() if name not in _TIED}


def _write_checkpoint(path: Path, network: Network, config: ModelConfig, seed: int) -> None:
    """Lays the file out without its values, then fills them in through a shared mapping."""
    shapes = _untied(network.published(config))
    tensors = {name: torch.empty(shape) for name, shape in shapes.items()}  # never touched: takes no memory
    tensors |= {name: tensors[other] for name, other in _TIED.items() if other in tensors}
    with torch.serialization.skip_data():
        torch.save(tensors, path)
    del tensors
    for window in _windows(shapes):
        with torch.serialization.set_default_mmap_options(mmap.MAP_SHARED):
            mapped = torch.load(path, mmap=True, weights_only=True)
        for name in window:
            _fill(mapped[name], network.name, name, seed)


def _windows(shapes: Mapping[str, Shape]) -> Iterator[list[str]]:
    window: list[str] = []
    size_bytes = 0
    for name, shape in shapes.items():
        window.append(name)
        size_bytes += 4 * math.prod(shape)
        if size_bytes >= _WINDOW_BYTES:
            yield window
            window, size_bytes = [], 0
    if window:
        yield window


def _fill(tensor: Tensor, network: str, name: str, seed: int) -> None:
    if name.endswith("inv_freq"):  # of rotary embeddings: the one tensor that is not trained
        channels = 2 * len(tensor)
        tensor.copy_(10_000.0 ** -(torch.arange(0, channels, 2) / channels))
        return
    values = _values(network, name, tuple(tensor.shape))
    generator = torch.Generator().manual_seed(zlib.crc32(f"{seed} {network} {name}".encode()))
    half_width = math.sqrt(3) * values.std
    tensor.uniform_(values.mean - half_width, values.mean + half_width, generator=generator)
    if name == "llm_decoder.weight":
        tensor[SPEECH_CODEBOOK:] *= _STOP_GAIN


def _values(network: str, name: str, shape: Shape) -> Values:
    for pattern, values in _SPECIAL[network].items():
        if re.fullmatch(pattern, name):
            return values
    if name.endswith("bias"):
        return _BIAS
    return Values(0.0, 1 / math.sqrt(math.prod(shape[1:])))
