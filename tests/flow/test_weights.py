"""Every published tensor is known, and every tensor of ours is made of them."""

import json

import pytest
import torch
from torch import nn

from cosyvoice.config import FULL, TINY, FlowConfig
from cosyvoice.flow import weights
from cosyvoice.flow.flow import Flow
from cosyvoice.flow.modulation import ComputedModulations
from tests.flow.conftest import DATA, load_tiny

CONFIGS = pytest.mark.parametrize("config", [FULL.flow, TINY.flow], ids=["full", "tiny"])


def on_meta(config: FlowConfig) -> Flow:
    with torch.device("meta"):
        return Flow(config, ComputedModulations(config))


def test_full_layout_is_the_manifest() -> None:
    manifest = json.loads((DATA / "manifest_flow.json").read_text())
    assert weights.published(FULL.flow) == {name: tuple(shape) for name, shape in manifest.items()}


def test_tiny_layout_is_that_of_the_tiny_checkpoint() -> None:
    tensors = load_tiny()
    assert weights.published(TINY.flow) == {name: tuple(tensor.shape) for name, tensor in tensors.items()}


@CONFIGS
def test_every_published_tensor_is_used_or_named_unused(config: FlowConfig) -> None:
    used = {source for rule in weights.rules(config) for source in rule.sources}
    unused = weights.unused(config)
    assert used | unused == set(weights.published(config))
    assert not used & unused


@CONFIGS
def test_rules_make_every_tensor_of_the_module_once(config: FlowConfig) -> None:
    targets = [rule.target for rule in weights.rules(config)]
    assert len(targets) == len(set(targets))
    assert set(targets) == set(on_meta(config).state_dict())


@CONFIGS
def test_int8_weights_are_the_four_linears_of_each_block(config: FlowConfig) -> None:
    module = on_meta(config)
    names = [name for name in module.state_dict() if weights.is_int8(name)]
    assert len(names) == 4 * config.depth
    assert all(isinstance(module.get_submodule(name.removesuffix(".weight")), nn.Linear) for name in names)


def test_rotary_frequencies_that_are_left_out_are_the_computed_ones() -> None:
    (name,) = weights.unused(TINY.flow)
    channels = TINY.flow.head_dim
    computed = 10_000.0 ** (-torch.arange(0, channels, 2) / channels)
    torch.testing.assert_close(load_tiny()[name], computed)
