"""The tiny checkpoint, a language model that follows a script, and the recorded tensors."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cosyvoice.config import TINY, LlmConfig
from cosyvoice.llm import weights
from cosyvoice.llm.kv_cache import KvCache
from cosyvoice.llm.speech_lm import SpeechLm
from cosyvoice.llm.text_embedding import FloatTextEmbedding
from cosyvoice.weights.rules import Shape, convert

DATA = Path(__file__).parents[1] / "data" / "cosyvoice3"
CONFIG = TINY.llm


def tiny_checkpoint() -> dict[str, Tensor]:
    checkpoint: dict[str, Tensor] = torch.load(DATA / "tiny/llm.pt", weights_only=True)
    return checkpoint


def full_manifest() -> dict[str, Shape]:
    manifest: dict[str, list[int]] = json.loads((DATA / "manifest_llm.json").read_text())
    return {name: tuple(shape) for name, shape in manifest.items()}


def golden(name: str) -> dict[str, NDArray[np.float32]]:
    with np.load(DATA / "golden" / f"{name}.npz") as recorded:
        return dict(recorded)


def on_meta(config: LlmConfig, text_table: Tensor) -> SpeechLm:
    with torch.device("meta"):
        return SpeechLm(config, FloatTextEmbedding(text_table))


def tiny_lm() -> SpeechLm:
    state = convert(tiny_checkpoint(), weights.rules(CONFIG))
    lm = on_meta(CONFIG, state.pop(weights.TEXT_EMBEDDING))
    lm.load_state_dict(state, strict=True, assign=True)
    return lm


class ScriptedLm(SpeechLm):
    """All but surely says one token after the other, and what comes last for ever."""

    def __init__(self, script: Sequence[int]) -> None:
        super().__init__(CONFIG, FloatTextEmbedding(torch.zeros(CONFIG.vocab, CONFIG.hidden)))
        self._script = list(script)
        self.steps = 0

    def forward(self, embeddings: Tensor, cache: KvCache) -> Tensor:
        logits = torch.zeros(CONFIG.speech_vocab)
        logits[self._script[min(self.steps, len(self._script) - 1)]] = 100.0
        self.steps += 1
        return logits
