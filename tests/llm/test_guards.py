from itertools import cycle, islice

import numpy as np
import pytest

from cosyvoice.config import SPEECH_CODEBOOK
from cosyvoice.llm.guards import fault_at_end, fault_so_far, loop_period
from cosyvoice.llm.silence import SILENCE_TOKENS


def speech(count: int, seed: int = 0) -> list[int]:
    """Tokens as varied as speech has them, none of them silent."""
    tokens = np.random.default_rng(seed).integers(3000, SPEECH_CODEBOOK, count)
    return [int(token) for token in tokens]


def repeated(tokens: list[int], count: int) -> list[int]:
    return list(islice(cycle(tokens), count))


@pytest.mark.parametrize("period", [1, 2, 11, 25])
def test_a_cycle_of_five_seconds_is_a_loop(period: int) -> None:
    tokens = speech(50) + repeated(speech(period, seed=1), 125)
    assert loop_period(tokens) == period
    assert "repeats itself" in (fault_so_far(tokens) or "")


def test_a_loop_with_a_slip_now_and_then_is_a_loop() -> None:
    tokens = repeated(speech(12), 125)
    for slip in (30, 60, 90):
        tokens[slip] = 6000 + slip
    assert loop_period(tokens) == 12


def test_speech_is_no_loop() -> None:
    assert loop_period(speech(2000)) is None


def test_a_sound_held_for_three_seconds_is_no_loop() -> None:
    tokens = [*speech(40), *repeated([4000], 75), *speech(40, seed=1)]
    assert all(fault_so_far(tokens[:end]) is None for end in range(len(tokens) + 1))


def test_a_phrase_said_three_times_is_no_loop() -> None:
    tokens = [*speech(30), *repeated(speech(25, seed=1), 75), *speech(100, seed=2)]
    assert all(fault_so_far(tokens[:end]) is None for end in range(len(tokens) + 1))


def test_silence_between_sentences_is_no_fault_but_lasting_silence_is() -> None:
    silence = repeated(sorted(SILENCE_TOKENS), 101)
    assert fault_so_far([*speech(100), *silence[:100]]) is None
    assert "fell silent" in (fault_so_far([*speech(100), *silence]) or "")


def test_speech_must_have_a_length_that_fits_its_text() -> None:
    assert fault_at_end(speech(10), text_ids=10) is None
    assert "0.36 s, too early" in (fault_at_end(speech(9), text_ids=10) or "")


def test_silence_does_not_count_as_speech() -> None:
    assert fault_at_end([*speech(9), *repeated([1], 50)], text_ids=10) is not None


def test_no_speech_at_all_is_a_fault_of_any_text() -> None:
    assert fault_at_end([], text_ids=0) is not None
