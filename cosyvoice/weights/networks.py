"""The three networks of the model, as the folders see them."""

from collections.abc import Callable
from typing import NamedTuple

from cosyvoice.config import FULL, TINY, ModelConfig
from cosyvoice.flow import weights as flow
from cosyvoice.llm import weights as llm
from cosyvoice.vocoder import weights as vocoder
from cosyvoice.weights.rules import Rule, Shape


class Network(NamedTuple):
    """One network: its published file, and how its tensors become ours."""

    name: str
    published_file: str
    published: Callable[[ModelConfig], dict[str, Shape]]
    rules: Callable[[ModelConfig], list[Rule]]
    is_int8: Callable[[str], bool]
    canonical: Callable[[str], str]  # an older name of a published tensor -> the name in `published`


def _as_it_is(name: str) -> str:
    return name


LLM = Network(
    "llm",
    "llm.pt",
    lambda config: llm.published(config.llm),
    lambda config: llm.rules(config.llm),
    llm.is_int8,
    _as_it_is,
)
FLOW = Network(
    "flow",
    "flow.pt",
    lambda config: flow.published(config.flow),
    lambda config: flow.rules(config.flow),
    flow.is_int8,
    _as_it_is,
)
VOCODER = Network(
    "vocoder",
    "hift.pt",
    lambda config: vocoder.published(config.vocoder),
    lambda config: vocoder.rules(config.vocoder),
    vocoder.is_int8,
    vocoder.canonical,
)
NETWORKS = (LLM, FLOW, VOCODER)
SIZES = {"full": FULL, "tiny": TINY}
