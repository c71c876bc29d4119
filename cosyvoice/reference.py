"""The networks as published, in float32 and without any shortcut: the yardstick for speed and quality."""

from pathlib import Path

import torch
from torch import Tensor

from cosyvoice.flow.flow import Flow
from cosyvoice.flow.modulation import ComputedModulations
from cosyvoice.llm.speech_lm import SpeechLm
from cosyvoice.llm.text_embedding import FloatTextEmbedding
from cosyvoice.llm.weights import TEXT_EMBEDDING
from cosyvoice.model import Model
from cosyvoice.text import tokenizer
from cosyvoice.vocoder.hift import Vocoder
from cosyvoice.weights.networks import FLOW, LLM, VOCODER, Network
from cosyvoice.weights.published import TOKENIZER_FOLDER, PublishedModel, open_folder
from cosyvoice.weights.rules import convert


def load(folder: Path) -> Model:
    """The float32 model of a published folder. Takes four times the memory. Raises `ModelError`."""
    published = open_folder(folder, enrolment=False)
    return Model(
        published.config,
        tokenizer.load(folder / TOKENIZER_FOLDER),
        _llm(published),
        _flow(published),
        _vocoder(published),
    )


def _llm(published: PublishedModel) -> SpeechLm:
    state = _state(published, LLM)
    table = FloatTextEmbedding(state.pop(TEXT_EMBEDDING))
    with torch.device("meta"):
        llm = SpeechLm(published.config.llm, table)
    llm.load_state_dict(state, strict=True, assign=True)
    return llm.eval()


def _flow(published: PublishedModel) -> Flow:
    config = published.config.flow
    with torch.device("meta"):
        flow = Flow(config, ComputedModulations(config))
    flow.load_state_dict(_state(published, FLOW), strict=True, assign=True)
    return flow.eval()


def _vocoder(published: PublishedModel) -> Vocoder:
    with torch.device("meta"):
        vocoder = Vocoder(published.config.vocoder)
    vocoder.load_state_dict(_state(published, VOCODER), strict=True, assign=True)
    return vocoder.eval()


def _state(published: PublishedModel, network: Network) -> dict[str, Tensor]:
    return convert(published.tensors(network), network.rules(published.config))
