import pytest
import torch
from torch import nn

from cosyvoice.config import FULL, TINY, LlmConfig
from cosyvoice.llm import weights
from tests.llm.model import full_manifest, on_meta, tiny_checkpoint

both_sizes = pytest.mark.parametrize("config", [FULL.llm, TINY.llm], ids=["full", "tiny"])


def module_of(config: LlmConfig) -> nn.Module:
    return on_meta(config, torch.empty(config.vocab, config.hidden, device="meta"))


def test_the_published_layout_is_that_of_the_manifest() -> None:
    assert weights.published(FULL.llm) == full_manifest()


def test_the_tiny_layout_is_that_of_the_tiny_checkpoint() -> None:
    found = {name: tuple(tensor.shape) for name, tensor in tiny_checkpoint().items()}
    assert weights.published(TINY.llm) == found


@both_sizes
def test_every_published_tensor_is_used_once_or_left_out_on_purpose(config: LlmConfig) -> None:
    sources = [source for rule in weights.rules(config) for source in rule.sources]
    assert len(sources) == len(set(sources))
    assert weights.unused(config).isdisjoint(sources)
    assert weights.unused(config).union(sources) == set(weights.published(config))


@both_sizes
def test_the_rules_make_the_module_and_the_text_table(config: LlmConfig) -> None:
    published = {name: torch.empty(shape, device="meta") for name, shape in weights.published(config).items()}
    made = {
        rule.target: rule.make(*(published[name] for name in rule.sources)).shape
        for rule in weights.rules(config)
    }
    assert made.pop(weights.TEXT_EMBEDDING) == (config.vocab, config.hidden)
    assert made == {name: tensor.shape for name, tensor in module_of(config).state_dict().items()}


def test_int8_are_the_weights_of_all_linear_layers_and_no_others() -> None:
    module = module_of(TINY.llm)
    linear = {f"{name}.weight" for name, part in module.named_modules() if isinstance(part, nn.Linear)}
    names = [*module.state_dict(), weights.TEXT_EMBEDDING]
    assert {name for name in names if weights.is_int8(name)} == linear
