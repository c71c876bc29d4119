"""The published tensors of `llm.pt`, and how ours are made of them."""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from cosyvoice.config import LlmConfig
from cosyvoice.weights.rules import Rule, Shape, stack_rows

BODY = "llm.model.model"
LM_HEAD = "llm.model.lm_head.weight"
TEXT_TABLE = f"{BODY}.embed_tokens.weight"

TEXT_EMBEDDING = "text_embedding"
"""Our name of the text table, (vocab, hidden). It is no part of the module's state dict: whoever loads a
model takes it out, and gives it to `SpeechLm` as a `TextEmbedding`."""


def published(config: LlmConfig) -> dict[str, Shape]:
    """Every tensor of the published file."""
    hidden, inner = config.hidden, config.intermediate
    shapes: dict[str, Shape] = {TEXT_TABLE: (config.vocab, hidden)}
    projections = (("q", config.heads), ("k", config.kv_heads), ("v", config.kv_heads))
    for index in range(config.layers):
        layer = f"{BODY}.layers.{index}"
        for name, heads in projections:
            shapes[f"{layer}.self_attn.{name}_proj.weight"] = (heads * config.head_dim, hidden)
            shapes[f"{layer}.self_attn.{name}_proj.bias"] = (heads * config.head_dim,)
        shapes[f"{layer}.self_attn.o_proj.weight"] = (hidden, hidden)
        shapes[f"{layer}.mlp.gate_proj.weight"] = (inner, hidden)
        shapes[f"{layer}.mlp.up_proj.weight"] = (inner, hidden)
        shapes[f"{layer}.mlp.down_proj.weight"] = (hidden, inner)
        shapes[f"{layer}.input_layernorm.weight"] = (hidden,)
        shapes[f"{layer}.post_attention_layernorm.weight"] = (hidden,)
    shapes[f"{BODY}.norm.weight"] = (hidden,)
    shapes[LM_HEAD] = (config.vocab, hidden)
    shapes["speech_embedding.weight"] = (config.speech_vocab, hidden)
    shapes["llm_decoder.weight"] = (config.speech_vocab, hidden)
    return shapes


def rules(config: LlmConfig) -> list[Rule]:
    """How each tensor of `SpeechLm` is made, and the text table."""
    return [
        Rule(TEXT_EMBEDDING, (TEXT_TABLE,)),
        Rule("speech_embedding.weight", ("speech_embedding.weight",)),
        Rule("speech_head.weight", ("llm_decoder.weight",)),
        Rule("body.norm.weight", (f"{BODY}.norm.weight",)),
        *(rule for index in range(config.layers) for rule in _layer_rules(config, index)),
    ]


def unused(config: LlmConfig) -> frozenset[str]:
    """Published tensors that we leave out."""
    return frozenset({LM_HEAD})  # gives text logits, which nobody asks for; it repeats the text table


def is_int8(name: str) -> bool:
    """Whether our tensor `name` is the weight of a linear layer that is worth int8: all of them are."""
    return name.endswith(("qkv.weight", "out.weight", "gate_up.weight", "down.weight", "speech_head.weight"))


def _layer_rules(config: LlmConfig, index: int) -> Iterator[Rule]:
    theirs, ours = f"{BODY}.layers.{index}", f"body.layers.{index}"
    fuse = partial(fuse_qkv, head_dim=config.head_dim)
    for kind in ("weight", "bias"):
        sources = tuple(f"{theirs}.self_attn.{name}_proj.{kind}" for name in "qkv")
        yield Rule(f"{ours}.attention.qkv.{kind}", sources, fuse)
    yield Rule(f"{ours}.attention.out.weight", (f"{theirs}.self_attn.o_proj.weight",))
    gate_up = (f"{theirs}.mlp.gate_proj.weight", f"{theirs}.mlp.up_proj.weight")
    yield Rule(f"{ours}.feed_forward.gate_up.weight", gate_up, stack_rows)
    yield Rule(f"{ours}.feed_forward.down.weight", (f"{theirs}.mlp.down_proj.weight",))
    yield Rule(f"{ours}.attention_norm.weight", (f"{theirs}.input_layernorm.weight",))
    yield Rule(f"{ours}.feed_forward_norm.weight", (f"{theirs}.post_attention_layernorm.weight",))


def fuse_qkv(query: Tensor, key: Tensor, value: Tensor, *, head_dim: int) -> Tensor:
    """Weights or biases (heads * head_dim, ...) one below the other, with work taken over from the forward.

    The published rotary embedding turns channel i of a head with channel i + head_dim / 2. Here the rows of
    queries and keys are reordered so that the two lie side by side, as a complex number does; their products
    are the same. Queries are divided by sqrt(head_dim), which attention would else do to its scores.
    """
    query = query * head_dim**-0.5  # 1/8 as published: exact
    return torch.cat((_pair_channels(query, head_dim), _pair_channels(key, head_dim), value))


def _pair_channels(rows: Tensor, head_dim: int) -> Tensor:
    halves = rows.reshape(-1, 2, head_dim // 2, *rows.shape[1:])  # (heads, 2, head_dim / 2, ...)
    return halves.transpose(1, 2).reshape(rows.shape)
