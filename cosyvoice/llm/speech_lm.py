"""The speech language model: reads text, then speaks in speech tokens, 25 a second.

Positions in order: sos, prompt text, target text, task, prompt speech, generated speech.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from cosyvoice.config import SPEECH_CODEBOOK, LlmConfig
from cosyvoice.layers import Embedding, Linear
from cosyvoice.llm import kv_cache
from cosyvoice.llm.kv_cache import KvCache
from cosyvoice.llm.qwen2 import Qwen2
from cosyvoice.llm.text_embedding import TextEmbedding

# Control ids of the speech embedding, after the codebook; every id from SPEECH_CODEBOOK on ends the speech.
SOS = SPEECH_CODEBOOK
TASK = SPEECH_CODEBOOK + 2


class SpeechLm(nn.Module):
    """The body between two embeddings and a head; the text embedding stays outside of the state dict."""

    def __init__(self, config: LlmConfig, text_embedding: TextEmbedding) -> None:
        super().__init__()
        self._config = config
        self._text_embedding = text_embedding
        self.body = Qwen2(config)
        self.speech_embedding = Embedding(config.speech_vocab, config.hidden)
        self.speech_head = Linear(config.hidden, config.speech_vocab, bias=False)

    def new_cache(self, capacity: int) -> KvCache:
        return kv_cache.empty(self._config, capacity)

    def embed_opening(self, prompt_text_ids: Sequence[int]) -> Tensor:
        """sos and the prompt text, (1 + n, hidden): the part that does not change with the announcement."""
        return torch.cat((self._speech([SOS]), self._text_embedding(prompt_text_ids)))

    def embed_request(self, target_text_ids: Sequence[int], prompt_speech: Sequence[int]) -> Tensor:
        """The target text, task and the prompt speech, (n + 1 + m, hidden)."""
        return torch.cat((self._text_embedding(target_text_ids), self._speech([TASK, *prompt_speech])))

    def embed_speech_token(self, token: int) -> Tensor:
        """(1, hidden)."""
        return self.speech_embedding.weight[token : token + 1]

    def forward(self, embeddings: Tensor, cache: KvCache) -> Tensor:
        """Reads (R, hidden) embeddings on after the cache's positions.

        Returns:
            (speech_vocab,) float32 logits of the token after the last one.
        """
        hidden: Tensor = self.body(embeddings, cache)  # (R, hidden)
        logits: Tensor = self.speech_head(hidden[-1:])  # (1, speech_vocab)
        return logits[0]

    def _speech(self, tokens: list[int]) -> Tensor:
        vectors: Tensor = self.speech_embedding(torch.tensor(tokens))
        return vectors
