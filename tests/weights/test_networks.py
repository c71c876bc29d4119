"""Every published tensor is accounted for, at the published size and at the toy size."""

import json
from pathlib import Path

import pytest
import torch

from cosyvoice.config import FULL, TINY, ModelConfig
from cosyvoice.flow import weights as flow
from cosyvoice.llm import weights as llm
from cosyvoice.vocoder import weights as vocoder
from cosyvoice.weights.networks import NETWORKS, Network
from cosyvoice.weights.rules import Shape

DATA = Path(__file__).parents[1] / "data" / "cosyvoice3"
EACH_NETWORK = pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.name)
EACH_SIZE = pytest.mark.parametrize("config", [FULL, TINY], ids=["full", "tiny"])


@EACH_NETWORK
def test_the_full_layout_is_the_published_one(network: Network) -> None:
    stem = Path(network.published_file).stem
    shapes: dict[str, list[int]] = json.loads((DATA / f"manifest_{stem}.json").read_text())
    assert network.published(FULL) == {name: tuple(shape) for name, shape in shapes.items()}


@EACH_NETWORK
def test_the_tiny_layout_is_that_of_the_tiny_checkpoint(network: Network) -> None:
    tensors = torch.load(DATA / "tiny" / network.published_file, weights_only=True)
    found: dict[str, Shape] = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    assert network.published(TINY) == found


@EACH_SIZE
@EACH_NETWORK
def test_each_published_tensor_is_used_or_left_out_on_purpose(network: Network, config: ModelConfig) -> None:
    unused = {
        "llm": llm.unused(config.llm),
        "flow": flow.unused(config.flow),
        "vocoder": vocoder.unused(config.vocoder),
    }[network.name]
    used = {source for rule in network.rules(config) for source in rule.sources}
    assert used | unused == set(network.published(config))
    assert used & unused == set()


@EACH_NETWORK
def test_no_tensor_of_ours_is_made_twice(network: Network) -> None:
    targets = [rule.target for rule in network.rules(FULL)]
    assert len(targets) == len(set(targets))
