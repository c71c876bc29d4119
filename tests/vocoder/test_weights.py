"""Every published tensor is accounted for, and makes every tensor of ours."""

import json

import torch

from cosyvoice.config import FULL, TINY
from cosyvoice.vocoder.hift import Vocoder
from cosyvoice.vocoder.weights import canonical, is_int8, published, rules, unused
from cosyvoice.weights.rules import convert
from tests.vocoder import tiny


def test_the_published_layout_is_the_manifest() -> None:
    manifest = json.loads((tiny.DATA / "manifest_hift.json").read_text())
    assert published(FULL.vocoder) == {name: tuple(shape) for name, shape in manifest.items()}


def test_the_tiny_checkpoint_has_the_published_layout() -> None:
    shapes = {name: tuple(tensor.shape) for name, tensor in tiny.published_tensors().items()}
    assert published(TINY.vocoder) == shapes


def test_each_published_tensor_is_used_once() -> None:
    sources = [source for rule in rules(FULL.vocoder) for source in rule.sources]
    assert sorted(sources) == sorted(published(FULL.vocoder))
    assert not unused(FULL.vocoder)


def test_each_tensor_of_ours_has_a_rule_and_its_shape() -> None:
    made = convert(tiny.published_tensors(), rules(TINY.vocoder))
    with torch.device("meta"):
        ours = Vocoder(TINY.vocoder).state_dict()
    assert {name: tensor.shape for name, tensor in made.items()} == {
        name: tensor.shape for name, tensor in ours.items()
    }
    assert all(tensor.dtype == torch.float32 and tensor.is_contiguous() for tensor in made.values())
    assert len(made) == len(rules(TINY.vocoder))


def test_older_and_wrapped_names_are_understood() -> None:
    for name in published(TINY.vocoder):
        older = name.replace(".parametrizations.weight.original0", ".weight_g")
        older = older.replace(".parametrizations.weight.original1", ".weight_v")
        assert canonical(f"generator.{older}") == canonical(older) == canonical(name) == name


def test_nothing_becomes_int8() -> None:
    assert not any(is_int8(rule.target) for rule in rules(FULL.vocoder))
