"""From a prompt to speech tokens, one by one."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from cosyvoice.config import SPEECH_CODEBOOK, SPEECH_TOKENS_PER_S
from cosyvoice.errors import GenerationError
from cosyvoice.llm import guards, sampling, silence
from cosyvoice.llm.kv_cache import KvCache
from cosyvoice.llm.prefix_cache import PrefixCache
from cosyvoice.llm.speech_lm import SpeechLm
from cosyvoice.prompts import Prompt

# The published bounds of speech tokens for one id of the target text.
MIN_TOKENS_PER_TEXT_ID = 2
MAX_TOKENS_PER_TEXT_ID = 20
# A single word, drawn out, with a pause before it: the published bound alone gives a one-id text 0.8 s.
MIN_CEILING = 4 * SPEECH_TOKENS_PER_S


@dataclass(frozen=True)
class Limits:
    """How many speech tokens a text may take, silence included.

    guarded: whether speech that does not end, or is not the text, is an error. A benchmark, which wants so
        many tokens of meaningless speech, sets it to False.
    """

    min_tokens: int
    max_tokens: int
    guarded: bool = True


def limits_of(target_text_ids: Sequence[int]) -> Limits:
    """The usual limits for a text."""
    count = len(target_text_ids)
    return Limits(MIN_TOKENS_PER_TEXT_ID * count, max(MAX_TOKENS_PER_TEXT_ID * count, MIN_CEILING))


def never() -> bool:
    return False


def generate(
    lm: SpeechLm,
    prompt: Prompt,
    prompt_speech: Sequence[int],
    *,
    seed: int,
    limits: Limits | None = None,
    prefixes: PrefixCache | None = None,
    cancelled: Callable[[], bool] = never,
) -> Iterator[int]:
    """Yields the speech tokens to be heard, each in [0, 6561), as they come.

    Long silences are shortened on the way out; the model remembers them whole.

    Args:
        lm: the model.
        prompt: the text in its layout.
        prompt_speech: the voice's speech tokens; left out where the layout has none.
        seed: of this request's private generator.
        limits: `limits_of` the target text, unless given.
        prefixes: where the reading of the prompt text is kept for the next request.
        cancelled: asked before each token; once it says True, the speech just ends.

    Raises:
        GenerationError: the text is empty, or the speech does not end, loops, falls silent, or is too short.
    """
    limits = limits or limits_of(prompt.target_text_ids)
    spoken = prompt_speech if prompt.uses_prompt_speech else ()
    return silence.shorten(_all_tokens(lm, prompt, spoken, seed, limits, prefixes, cancelled))


def _all_tokens(
    lm: SpeechLm,
    prompt: Prompt,
    prompt_speech: Sequence[int],
    seed: int,
    limits: Limits,
    prefixes: PrefixCache | None,
    cancelled: Callable[[], bool],
) -> Iterator[int]:
    if not prompt.target_text_ids:
        raise GenerationError("The text has nothing to say.")
    generator = sampling.new_generator(seed)
    tokens: list[int] = []
    cache, logits = read_prompt(lm, prompt, prompt_speech, limits.max_tokens, prefixes)
    while not cancelled():
        may_stop = len(tokens) >= limits.min_tokens
        token = sampling.sample(logits.numpy(), tokens, generator, may_stop)
        if token >= SPEECH_CODEBOOK:
            _raise_on(limits, guards.fault_at_end(tokens, len(prompt.target_text_ids)))
            return
        tokens.append(token)
        _raise_on(limits, guards.fault_so_far(tokens))
        yield token
        if len(tokens) >= limits.max_tokens:
            _raise_on(limits, f"The speech did not end within {len(tokens) / SPEECH_TOKENS_PER_S:.1f} s.")
            return
        logits = read_token(lm, token, cache)


@torch.inference_mode()
def read_prompt(
    lm: SpeechLm, prompt: Prompt, prompt_speech: Sequence[int], room: int, prefixes: PrefixCache | None
) -> tuple[KvCache, Tensor]:
    """The cache after the prompt, with room for `room` more positions, and the first token's logits."""
    opening = 1 + len(prompt.prompt_text_ids)
    request = lm.embed_request(prompt.target_text_ids, prompt_speech)
    cache = lm.new_cache(opening + len(request) + room)
    known = prefixes.get(prompt.prompt_text_ids) if prefixes is not None else None
    if known is not None:
        cache.restore(known)
        return cache, lm(request, cache)
    logits = lm(torch.cat((lm.embed_opening(prompt.prompt_text_ids), request)), cache)
    if prefixes is not None:
        prefixes.put(prompt.prompt_text_ids, cache.copy(opening))
    return cache, logits


@torch.inference_mode()
def read_token(lm: SpeechLm, token: int, cache: KvCache) -> Tensor:
    """Reads one generated token; the logits of the next, (speech_vocab,)."""
    logits: Tensor = lm(lm.embed_speech_token(token), cache)
    return logits


def _raise_on(limits: Limits, fault: str | None) -> None:
    if fault and limits.guarded:
        raise GenerationError(fault)
