"""The three networks with their weights: int8 from a prepared folder, or float32 as published."""

import gc
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch

from cosyvoice.config import ModelConfig
from cosyvoice.errors import ModelError
from cosyvoice.flow import modulation
from cosyvoice.flow.flow import Flow
from cosyvoice.int8 import linear
from cosyvoice.llm.speech_lm import SpeechLm
from cosyvoice.llm.text_embedding import Int8TextEmbedding
from cosyvoice.text import tokenizer
from cosyvoice.text.tokenizer import Tokenizer
from cosyvoice.vocoder.hift import Vocoder
from cosyvoice.weights import kernel_choice, manifest, prepared
from cosyvoice.weights.kernel_choice import KernelChoice
from cosyvoice.weights.layout import START
from cosyvoice.weights.prepared import PreparedModel
from cosyvoice.weights.tune import tune


@dataclass(frozen=True)
class Model:
    """All that is loaded once and asked for every announcement."""

    config: ModelConfig
    tokenizer: Tokenizer
    llm: SpeechLm
    flow: Flow
    vocoder: Vocoder


def load(folder: Path, threads: int, progress: Callable[[str], None]) -> Model:
    """The int8 model of a prepared folder.

    Args:
        folder: as `cosyvoiced model prepare` made it.
        threads: how many the networks will use; the kernels are chosen for them.
        progress: takes a line for a person where something takes longer.

    Raises:
        ModelError: one sentence for each fault of the folder.
    """
    source = prepared.load(folder)
    kernels = _kernels(source, threads, progress)
    config = source.manifest.config
    try:
        return Model(
            config,
            tokenizer.load(folder / manifest.TOKENIZER),
            _llm(source, config, kernels),
            _flow(source, config, kernels),
            _vocoder(source, config),
        )
    except (RuntimeError, KeyError) as error:
        raise ModelError([f"{folder} does not fit this version ({error}); {manifest.PREPARE}"]) from error


def settle() -> None:
    """Leaves what was loaded out of garbage collection, which took a seventh of the LLM's time."""
    gc.collect()
    gc.freeze()


def _llm(source: PreparedModel, config: ModelConfig, kernels: KernelChoice) -> SpeechLm:
    with torch.device("meta"):
        llm = SpeechLm(config.llm, Int8TextEmbedding(*source.text_embedding()))
    # The first position of a text is thousands of times larger than the others: its rows are kept apart.
    linear.fill(llm, source.reader(manifest.LLM), partial(kernels.kernel, "llm"), rows_apart=True)
    return llm.eval()


def _flow(source: PreparedModel, config: ModelConfig, kernels: KernelChoice) -> Flow:
    tensors = source.reader(manifest.FLOW)
    with torch.device("meta"):
        table = modulation.TabulatedModulations(config.flow, source.manifest.time_points)
        flow = Flow(config.flow, table, tensors.shape(START)[1])
    linear.fill(flow, tensors, partial(kernels.kernel, "flow"), rows_apart=False)
    return flow.eval()


def _vocoder(source: PreparedModel, config: ModelConfig) -> Vocoder:
    with torch.device("meta"):
        vocoder = Vocoder(config.vocoder)
    vocoder.load_state_dict(dict(source.reader(manifest.VOCODER)), strict=True, assign=True)
    return vocoder.eval()


def _kernels(source: PreparedModel, threads: int, progress: Callable[[str], None]) -> KernelChoice:
    """The choice recorded in the folder; made anew on another machine than it was made on."""
    recorded = source.kernels
    if recorded is not None and not kernel_choice.is_stale(recorded, threads):
        return recorded
    progress(f"measuring the int8 kernels of this machine with {threads} threads, once")
    chosen = tune(source.manifest.config, threads)
    try:
        kernel_choice.write(source.folder, chosen)
    except OSError as error:
        progress(f"the measurement cannot be kept, and is made again at the next start: {error}")
    return chosen
