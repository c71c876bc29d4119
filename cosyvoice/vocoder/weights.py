"""The vocoder's published tensors, and how ours are made of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from cosyvoice.config import MEL_BINS, VocoderConfig
from cosyvoice.vocoder import f0, hift
from cosyvoice.vocoder.hift import BLOCK_KERNELS, DILATIONS, LEVELS
from cosyvoice.vocoder.istft import BINS
from cosyvoice.vocoder.layers import conv_weight, upsampling_weight
from cosyvoice.vocoder.source import HARMONICS
from cosyvoice.vocoder.toom_cook import at_points
from cosyvoice.weights.rules import Rule, Shape, same

_MAGNITUDE = ".parametrizations.weight.original0"
_DIRECTION = ".parametrizations.weight.original1"


def canonical(name: str) -> str:
    """The published name of a tensor that may be named as older checkpoints or a training wrapper name it."""
    name = name.removeprefix("generator.")
    for older, newer in ((".weight_g", _MAGNITUDE), (".weight_v", _DIRECTION)):
        if name.endswith(older):
            return name.removesuffix(older) + newer
    return name


def published(config: VocoderConfig) -> dict[str, Shape]:
    """Every published tensor and its shape."""
    return {name: shape for layer in _layers(config) for name, shape in layer.published().items()}


def rules(config: VocoderConfig) -> list[Rule]:
    """How each tensor of `hift.Vocoder` is made."""
    return [rule for layer in _layers(config) for rule in layer.rules()]


def unused(config: VocoderConfig) -> frozenset[str]:
    """None: every published tensor has its part in ours."""
    return frozenset()


def is_int8(name: str) -> bool:
    """Never: the vocoder's errors are heard, and it is a tenth of the time."""
    return False


@dataclass(frozen=True)
class _Layer:
    """A published layer with a bias, and what its weight becomes in ours."""

    ours: str
    theirs: str
    shape: Shape
    layout: Callable[[Tensor], Tensor]
    normed: bool = True  # whether the weight is published as magnitude and direction
    moments: int = 1  # how many moments our layer gives at once, each with the bias
    alpha: str | None = None  # the activation before it, where our layer holds that too

    def published(self) -> dict[str, Shape]:
        outputs = self.shape[0]
        shapes: dict[str, Shape] = {f"{self.theirs}.bias": (outputs,)}
        if self.normed:
            shapes[self.theirs + _MAGNITUDE] = (outputs, *(1 for _ in self.shape[1:]))
            shapes[self.theirs + _DIRECTION] = self.shape
        else:
            shapes[f"{self.theirs}.weight"] = self.shape
        if self.alpha:
            shapes[self.alpha] = (outputs,)
        return shapes

    def rules(self) -> Iterator[Rule]:
        bias = partial(Tensor.repeat, repeats=(self.moments,)) if self.moments > 1 else same
        yield Rule(f"{self.ours}.bias", (f"{self.theirs}.bias",), bias)
        if self.normed:
            sources = (self.theirs + _MAGNITUDE, self.theirs + _DIRECTION)
            yield Rule(f"{self.ours}.weight", sources, lambda g, v: self.layout(_folded(g, v)))
        else:
            yield Rule(f"{self.ours}.weight", (f"{self.theirs}.weight",), self.layout)
        if self.alpha:
            yield Rule(f"{self.ours}.alpha", (self.alpha,))


def _layers(config: VocoderConfig) -> Iterator[_Layer]:
    width = config.channels
    yield _Layer(
        "f0.convs.0", "f0_predictor.condnet.0", (width, MEL_BINS, f0.LOOK_AHEAD_FRAMES + 1), conv_weight
    )
    for number in range(1, f0.CONVS):
        theirs = f"f0_predictor.condnet.{2 * number}"  # the activations between them are counted too
        yield _Layer(f"f0.convs.{number}", theirs, (width, width, f0.KERNEL), conv_weight)
    yield _Layer("f0.head", "f0_predictor.classifier", (1, width), Tensor.t, normed=False)
    yield _Layer("source.mix", "m_source.l_linear", (1, HARMONICS), same, normed=False)
    yield _Layer("pre", "conv_pre", (width, MEL_BINS, hift.LOOK_AHEAD_FRAMES + 1), conv_weight)
    for number, sizes in enumerate(LEVELS):
        width //= 2
        ours = f"levels.{number}"
        up = partial(upsampling_weight, factor=sizes.factor)
        shape = (width, 2 * width, sizes.up_kernel)
        yield _Layer(f"{ours}.up", f"ups.{number}", shape, up, moments=sizes.factor)
        shape = (width, 2 * BINS, sizes.spectrum_kernel)
        yield _Layer(f"{ours}.down", f"source_downs.{number}", shape, conv_weight, normed=False)
        yield from _block(f"{ours}.source_block", f"source_resblocks.{number}", width, sizes.source_kernel)
        for at, kernel in enumerate(BLOCK_KERNELS):
            theirs = f"resblocks.{len(BLOCK_KERNELS) * number + at}"
            yield from _block(f"{ours}.blocks.{at}", theirs, width, kernel)
    yield _Layer("post", "conv_post", (2 * BINS, width, hift.POST_KERNEL), conv_weight)


def _block(ours: str, theirs: str, width: int, kernel: int) -> Iterator[_Layer]:
    for step in range(len(DILATIONS)):
        for half, name in ((1, "dilated"), (2, "plain")):
            yield _Layer(
                f"{ours}.steps.{step}.{name}",
                f"{theirs}.convs{half}.{step}",
                (width, width, kernel),
                at_points,
                alpha=f"{theirs}.activations{half}.{step}.alpha",
            )


def _folded(magnitude: Tensor, direction: Tensor) -> Tensor:
    """Weight normalisation undone: (out, in, k), each output's weights scaled to its magnitude, float64."""
    direction = direction.double()
    norm: Tensor = torch.linalg.vector_norm(direction, dim=(1, 2), keepdim=True)
    return direction * (magnitude.double() / norm)
