"""The published tensors of `flow.pt`, and how ours are made of them."""

import re

from torch import Tensor

from cosyvoice.config import MEL_BINS, SPEAKER_DIM, SPEECH_CODEBOOK, FlowConfig
from cosyvoice.flow.dit import GIVEN_CHANNELS
from cosyvoice.flow.embeddings import POSITION_GROUPS, POSITION_KERNEL, TIME_CHANNELS
from cosyvoice.flow.lookahead import AHEAD_TOKENS, BEHIND_TOKENS
from cosyvoice.flow.modulation import FINAL_ROWS, ROWS_PER_BLOCK
from cosyvoice.weights.rules import Rule, Shape, stack_rows

_DIT = "decoder.estimator."
_ROTARY = f"{_DIT}rotary_embed.inv_freq"
_INPUT = f"{_DIT}input_embed.proj"
# The rest is a layer for a layer: ours, then the published one.
_LAYERS = {
    "speaker": "spk_embed_affine_layer",
    "look_ahead.conv1": "pre_lookahead_layer.conv1",
    "look_ahead.conv2": "pre_lookahead_layer.conv2",
    "modulations.time1": f"{_DIT}time_embed.time_mlp.0",
    "modulations.time2": f"{_DIT}time_embed.time_mlp.2",
    "modulations.final": f"{_DIT}norm_out.linear",
    "dit.position.conv1": f"{_DIT}input_embed.conv_pos_embed.conv1.0",
    "dit.position.conv2": f"{_DIT}input_embed.conv_pos_embed.conv2.0",
    "dit.out": f"{_DIT}proj_out",
}
_BLOCK_LAYERS = {
    "modulations.blocks.{}": f"{_DIT}transformer_blocks.{{}}.attn_norm.linear",
    "dit.blocks.{}.out": f"{_DIT}transformer_blocks.{{}}.attn.to_out.0",
    "dit.blocks.{}.ff1": f"{_DIT}transformer_blocks.{{}}.ff.ff.0.0",
    "dit.blocks.{}.ff2": f"{_DIT}transformer_blocks.{{}}.ff.ff.2",
}
_INT8 = re.compile(r"dit\.blocks\.\d+\.(qkv|out|ff1|ff2)\.weight")


def published(config: FlowConfig) -> dict[str, Shape]:
    """Every tensor of the published state dict."""
    dim, channels, hidden = config.dim, config.look_ahead_channels, config.dim * config.ff_mult
    weights: dict[str, Shape] = {
        "spk_embed_affine_layer": (MEL_BINS, SPEAKER_DIM),
        "pre_lookahead_layer.conv1": (channels, MEL_BINS, AHEAD_TOKENS + 1),
        "pre_lookahead_layer.conv2": (MEL_BINS, channels, BEHIND_TOKENS + 1),
        f"{_DIT}time_embed.time_mlp.0": (dim, TIME_CHANNELS),
        f"{_DIT}time_embed.time_mlp.2": (dim, dim),
        _INPUT: (dim, MEL_BINS + GIVEN_CHANNELS),
        f"{_DIT}input_embed.conv_pos_embed.conv1.0": (dim, dim // POSITION_GROUPS, POSITION_KERNEL),
        f"{_DIT}input_embed.conv_pos_embed.conv2.0": (dim, dim // POSITION_GROUPS, POSITION_KERNEL),
        f"{_DIT}norm_out.linear": (FINAL_ROWS * dim, dim),
        f"{_DIT}proj_out": (MEL_BINS, dim),
    }
    for index in range(config.depth):
        block = f"{_DIT}transformer_blocks.{index}."
        weights |= {
            f"{block}attn_norm.linear": (ROWS_PER_BLOCK * dim, dim),
            f"{block}attn.to_q": (dim, dim),
            f"{block}attn.to_k": (dim, dim),
            f"{block}attn.to_v": (dim, dim),
            f"{block}attn.to_out.0": (dim, dim),
            f"{block}ff.ff.0.0": (hidden, dim),
            f"{block}ff.ff.2": (dim, hidden),
        }
    shapes: dict[str, Shape] = {
        "input_embedding.weight": (SPEECH_CODEBOOK, MEL_BINS),
        _ROTARY: (config.head_dim // 2,),
    }
    for layer, shape in weights.items():
        shapes |= {f"{layer}.weight": shape, f"{layer}.bias": shape[:1]}
    return shapes


def unused(config: FlowConfig) -> frozenset[str]:
    """Published tensors that ours do without: the rotary frequencies are computed (`embeddings.rotary`)."""
    return frozenset({_ROTARY})


def rules(config: FlowConfig) -> list[Rule]:
    """A rule for each tensor of `Flow` with computed modulations."""
    layers = _LAYERS | {
        ours.format(index): theirs.format(index)
        for index in range(config.depth)
        for ours, theirs in _BLOCK_LAYERS.items()
    }
    made = [
        Rule("tokens.weight", ("input_embedding.weight",)),
        Rule("dit.noisy.weight", (f"{_INPUT}.weight",), _noisy_columns),
        Rule("dit.given.weight", (f"{_INPUT}.weight",), _given_columns),
        Rule("dit.given.bias", (f"{_INPUT}.bias",)),
    ]
    for part in ("weight", "bias"):
        made += [Rule(f"{ours}.{part}", (f"{theirs}.{part}",)) for ours, theirs in layers.items()]
        for index in range(config.depth):
            attention = f"{_DIT}transformer_blocks.{index}.attn."
            sources = tuple(f"{attention}to_{which}.{part}" for which in "qkv")
            made.append(Rule(f"dit.blocks.{index}.qkv.{part}", sources, stack_rows))
    return made


def is_int8(name: str) -> bool:
    """Whether a tensor of ours becomes an int8 linear: the blocks' four are nearly all of the work."""
    return _INT8.fullmatch(name) is not None


def _noisy_columns(weight: Tensor) -> Tensor:
    return weight[:, :MEL_BINS]


def _given_columns(weight: Tensor) -> Tensor:
    return weight[:, MEL_BINS:]
