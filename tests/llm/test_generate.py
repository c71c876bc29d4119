from itertools import cycle, islice

import pytest
import torch

from cosyvoice.config import SPEECH_CODEBOOK
from cosyvoice.errors import GenerationError
from cosyvoice.llm.generate import Limits, generate, limits_of, read_prompt
from cosyvoice.llm.prefix_cache import PrefixCache
from cosyvoice.llm.silence import SILENCE_TOKENS
from cosyvoice.llm.speech_lm import SpeechLm
from cosyvoice.prompts import Prompt
from tests.llm.model import ScriptedLm

STOP = SPEECH_CODEBOOK + 1
PROMPT = Prompt(prompt_text_ids=(5, 6, 7), target_text_ids=(8, 9, 10, 11), uses_prompt_speech=True)
VOICE = [100, 200, 300]
MEANINGLESS = Limits(min_tokens=30, max_tokens=30, guarded=False)


def said(lm: SpeechLm, seed: int = 1, limits: Limits | None = MEANINGLESS) -> list[int]:
    return list(generate(lm, PROMPT, VOICE, seed=seed, limits=limits))


def test_speech_ends_at_the_first_stop_id() -> None:
    speech = list(range(1000, 1020))
    for stop in (SPEECH_CODEBOOK, STOP, 6760):
        assert said(ScriptedLm([*speech, stop, 999]), limits=None) == speech


def test_the_same_seed_says_the_same_whatever_ran_before(lm: SpeechLm) -> None:
    first = said(lm, seed=3)
    assert len(first) == 30
    torch.manual_seed(99)
    assert said(lm, seed=4) != first
    assert said(lm, seed=3) == first


def test_the_number_of_threads_does_not_change_what_is_said(lm: SpeechLm) -> None:
    alone = said(lm)
    torch.set_num_threads(2)
    assert said(lm) == alone


def test_no_gradients_are_kept_whoever_asks(lm: SpeechLm) -> None:
    expected = said(lm)
    with torch.inference_mode(mode=False):
        assert said(lm) == expected
        _, logits = read_prompt(lm, PROMPT, VOICE, room=1, prefixes=None)
        assert not logits.requires_grad


def test_two_requests_side_by_side_do_not_disturb_each_other(lm: SpeechLm) -> None:
    alone = said(lm, seed=3), said(lm, seed=4)
    pairs = zip(
        generate(lm, PROMPT, VOICE, seed=3, limits=MEANINGLESS),
        generate(lm, PROMPT, VOICE, seed=4, limits=MEANINGLESS),
        strict=True,
    )
    assert tuple(list(tokens) for tokens in zip(*pairs, strict=True)) == alone


def test_the_voice_is_heard_only_in_layouts_that_have_it(lm: SpeechLm) -> None:
    without = Prompt(PROMPT.prompt_text_ids, PROMPT.target_text_ids, uses_prompt_speech=False)
    silent = list(generate(lm, without, VOICE, seed=1, limits=MEANINGLESS))
    assert silent == list(generate(lm, PROMPT, [], seed=1, limits=MEANINGLESS))
    assert silent != said(lm)


def test_reading_on_from_a_known_opening_gives_the_same_scores(lm: SpeechLm) -> None:
    prefixes = PrefixCache()
    _, fresh = read_prompt(lm, PROMPT, VOICE, room=1, prefixes=None)
    _, first = read_prompt(lm, PROMPT, VOICE, room=1, prefixes=prefixes)
    cache, reused = read_prompt(lm, PROMPT, VOICE, room=1, prefixes=prefixes)
    assert prefixes.get(PROMPT.prompt_text_ids) is not None
    assert cache.length == 1 + 3 + 4 + 1 + 3
    torch.testing.assert_close(first, fresh, rtol=0, atol=1e-5)
    torch.testing.assert_close(reused, fresh, rtol=0, atol=1e-5)


def test_what_is_said_later_does_not_change_a_known_opening(lm: SpeechLm) -> None:
    prefixes = PrefixCache()
    runs = [
        list(generate(lm, PROMPT, VOICE, seed=1, limits=MEANINGLESS, prefixes=prefixes)) for _ in range(3)
    ]
    assert runs == [said(lm)] * 3


def test_a_cancel_ends_the_speech_without_an_error() -> None:
    lm = ScriptedLm(range(1000, 1100))
    heard: list[int] = []
    for token in generate(lm, PROMPT, VOICE, seed=1, cancelled=lambda: len(heard) == 5):
        heard.append(token)
    assert heard == [1000, 1001, 1002, 1003, 1004]


def test_a_request_cancelled_from_the_start_says_nothing() -> None:
    assert list(generate(ScriptedLm([1000]), PROMPT, VOICE, seed=1, cancelled=lambda: True)) == []


def test_long_silence_is_remembered_but_not_heard() -> None:
    silence = sorted(SILENCE_TOKENS)
    lm = ScriptedLm([*range(1000, 1010), *silence, *range(1010, 1020), STOP])
    assert said(lm, limits=None) == [*range(1000, 1010), *silence[:5], *range(1010, 1020)]
    assert lm.steps == 10 + len(silence) + 10 + 1


def test_a_stop_before_the_minimum_is_passed_over() -> None:
    heard = said(ScriptedLm([STOP]), limits=limits_of(PROMPT.target_text_ids))
    assert len(heard) == 8  # two for each id of the text, though all the model wants is to stop


def test_speech_that_does_not_end_is_an_error() -> None:
    with pytest.raises(GenerationError, match=r"did not end within 4\.0 s"):
        said(ScriptedLm(range(1000, 3000)), limits=None)


def test_speech_that_loops_is_an_error() -> None:
    limits = Limits(min_tokens=0, max_tokens=1000)
    with pytest.raises(GenerationError, match=r"repeats itself every 0\.48 s"):
        said(ScriptedLm(list(islice(cycle(range(1000, 1012)), 500))), limits=limits)


def test_lasting_silence_is_an_error() -> None:
    script = [*range(1000, 1010), *islice(cycle(sorted(SILENCE_TOKENS)), 300)]
    with pytest.raises(GenerationError, match="fell silent"):
        said(ScriptedLm(script), limits=Limits(min_tokens=0, max_tokens=1000))


def test_a_stop_at_once_is_an_error() -> None:
    with pytest.raises(GenerationError, match="too early"):
        said(ScriptedLm([STOP]), limits=Limits(min_tokens=0, max_tokens=100))


def test_a_text_without_ids_is_an_error() -> None:
    nothing = Prompt((5,), (), uses_prompt_speech=False)
    with pytest.raises(GenerationError, match="nothing to say"):
        list(generate(ScriptedLm([STOP]), nothing, [], seed=1))


def test_meaningless_speech_may_be_had_on_request() -> None:
    lm = ScriptedLm(list(islice(cycle(range(1000, 1012)), 500)))
    assert len(said(lm, limits=Limits(min_tokens=300, max_tokens=300, guarded=False))) == 300


def test_limits_follow_the_text_and_leave_room_for_one_slow_word() -> None:
    assert limits_of(range(30)) == Limits(min_tokens=60, max_tokens=600)
    assert limits_of(range(1)) == Limits(min_tokens=2, max_tokens=100)
