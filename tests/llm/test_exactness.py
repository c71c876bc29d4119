"""The language model against what the official modules computed in float32; tolerance 1e-4."""

import torch
from torch import Tensor

from cosyvoice.config import SPEECH_CODEBOOK
from cosyvoice.llm.kv_cache import KvCache
from cosyvoice.llm.qwen2 import RMS_EPS, RmsNorm
from cosyvoice.llm.speech_lm import SpeechLm
from tests.llm.model import golden

TOLERANCE = 1e-4


def recorded_prompt(lm: SpeechLm) -> Tensor:
    recorded = golden("llm")
    text, speech = recorded["text_token"][0].tolist(), recorded["prompt_speech_token"][0].tolist()
    return torch.cat((lm.embed_opening([]), lm.embed_request(text, speech)))


def assert_close(found: Tensor, expected: Tensor, tolerance: float = TOLERANCE) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=tolerance)


def test_hidden_states_of_the_prompt_are_the_official_ones(lm: SpeechLm) -> None:
    hidden = lm.body(recorded_prompt(lm), lm.new_cache(64))
    assert_close(hidden, torch.from_numpy(golden("llm")["prefill_hidden"]))


def test_greedy_speech_is_the_official_one(lm: SpeechLm) -> None:
    recorded = golden("llm")
    cache = lm.new_cache(64)
    logits = lm(recorded_prompt(lm), cache)
    for expected, token in zip(recorded["logp"], [*recorded["greedy_token"].tolist(), None], strict=True):
        assert_close(logits.log_softmax(-1), torch.from_numpy(expected))
        if token is not None:
            assert int(logits[:SPEECH_CODEBOOK].argmax()) == token
            logits = lm(lm.embed_speech_token(token), cache)


def test_reading_in_steps_is_the_same_as_reading_at_once(lm: SpeechLm) -> None:
    prompt = recorded_prompt(lm)
    whole = lm.body(prompt, lm.new_cache(64))

    def in_steps(*lengths: int) -> Tensor:
        cache: KvCache = lm.new_cache(64)
        return torch.cat([lm.body(part, cache) for part in torch.split(prompt, list(lengths))])

    assert_close(in_steps(*[1] * len(prompt)), whole, 1e-5)
    assert_close(in_steps(7, 1, len(prompt) - 8), whole, 1e-5)


def test_rms_norm_is_that_of_torch() -> None:
    norm = RmsNorm(896)
    torch.nn.init.normal_(norm.weight, generator=torch.Generator().manual_seed(1))
    size = torch.tensor([[1e-6], [1e-3], [1.0], [1e3]])  # below the epsilon, too
    x = torch.randn(4, 896, generator=torch.Generator().manual_seed(2)) * size
    expected = torch.nn.functional.rms_norm(x, (896,), norm.weight, RMS_EPS)
    torch.testing.assert_close(norm(x), expected, rtol=1e-5, atol=1e-6)
