"""The networks as published, in float32 and without any shortcut: the yardstick for speed and quality."""

from pathlib import Path

import torch

from cosyvoice.flow import weights as flow_weights
from cosyvoice.flow.flow import Flow
from cosyvoice.flow.modulation import ComputedModulations
from cosyvoice.llm import weights as llm_weights
from cosyvoice.llm.speech_lm import SpeechLm
from cosyvoice.llm.text_embedding import FloatTextEmbedding
from cosyvoice.model import Model
from cosyvoice.text import tokenizer
from cosyvoice.vocoder import weights as vocoder_weights
from cosyvoice.vocoder.hift import Vocoder
from cosyvoice.weights.networks import FLOW, LLM, VOCODER
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
    state = convert(published.tensors(LLM), llm_weights.rules(published.config.llm))
    table = FloatTextEmbedding(state.pop(llm_weights.TEXT_EMBEDDING))
    with torch.device("meta"):
        llm = SpeechLm(published.config.llm, table)
    llm.load_state_dict(state, strict=True, assign=True)
    return llm.eval()


def _flow(published: PublishedModel) -> Flow:
    config = published.config.flow
    with torch.device("meta"):
        flow = Flow(config, ComputedModulations(config))
    flow.load_state_dict(
        convert(published.tensors(FLOW), flow_weights.rules(config)), strict=True, assign=True
    )
    return flow.eval()


def _vocoder(published: PublishedModel) -> Vocoder:
    config = published.config.vocoder
    with torch.device("meta"):
        vocoder = Vocoder(config)
    vocoder.load_state_dict(
        convert(published.tensors(VOCODER), vocoder_weights.rules(config)), strict=True, assign=True
    )
    return vocoder.eval()
