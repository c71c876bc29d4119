import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from cosyvoice.config import SPEECH_CODEBOOK
from cosyvoice.errors import GenerationError
from cosyvoice.llm.sampling import draw, new_generator, nucleus, sample, softmax
from tests.llm.model import golden

SPEECH_VOCAB = 6761


def logits_with(**scores: float) -> NDArray[np.float32]:
    """All zero but for the tokens named t<id>."""
    logits = np.zeros(SPEECH_VOCAB, dtype=np.float32)
    for name, score in scores.items():
        logits[int(name[1:])] = score
    return logits


def test_the_nucleus_is_the_official_one() -> None:
    recorded = golden("nucleus")
    for logits, kept in zip(recorded["logits"], recorded["kept"], strict=True):
        found = nucleus(softmax(logits.astype(np.float64)))
        assert found.tolist() == [token for token in kept.tolist() if token >= 0]


def test_the_likeliest_id_is_kept_even_if_it_has_all_the_mass() -> None:
    assert nucleus(softmax(logits_with(t7=99.0).astype(np.float64))).tolist() == [7]


def test_tokens_come_in_proportion_to_their_chances() -> None:
    logits = logits_with(t10=np.log(3.0) + 20, t20=20.0)
    generator = new_generator(seed=5)
    drawn = [sample(logits, [], generator, may_stop=True) for _ in range(4000)]
    assert set(drawn) == {10, 20}
    assert drawn.count(10) / 4000 == pytest.approx(0.75, abs=0.03)


def test_a_repeated_token_gives_way_to_any_other() -> None:
    logits = logits_with(t10=50.0)
    drawn = {sample(logits, [10], new_generator(seed), may_stop=True) for seed in range(50)}
    assert 10 not in drawn
    assert len(drawn) > 40  # from the whole softmax, which is flat without it


def test_a_token_may_come_again_after_ten_others() -> None:
    logits = logits_with(t10=50.0)
    assert sample(logits, [10, *range(100, 110)], new_generator(1), may_stop=True) == 10
    assert sample(logits, [10, *range(100, 109)], new_generator(1), may_stop=True) != 10


@given(seed=st.integers(0, 2**63), stop=st.integers(SPEECH_CODEBOOK, SPEECH_VOCAB - 1), repeats=st.booleans())
def test_nothing_stops_the_speech_below_its_minimum(seed: int, stop: int, repeats: bool) -> None:
    logits = np.full(SPEECH_VOCAB, -200.0, dtype=np.float32)
    logits[[3, 4]] = 0.0
    logits[stop] = 300.0
    recent = [3, 4] if repeats else []
    assert sample(logits, recent, new_generator(seed), may_stop=False) < SPEECH_CODEBOOK
    assert sample(logits, recent, new_generator(seed), may_stop=True) == stop


def test_the_logits_are_left_as_they_were() -> None:
    logits = logits_with(t10=50.0)
    before = logits.copy()
    sample(logits, [10], new_generator(1), may_stop=False)
    np.testing.assert_array_equal(logits, before)


def test_the_same_seed_draws_the_same_tokens() -> None:
    logits = np.random.default_rng(0).normal(size=SPEECH_VOCAB).astype(np.float32)

    def draws(seed: int) -> list[int]:
        generator = new_generator(seed)
        return [sample(logits, [], generator, may_stop=True) for _ in range(20)]

    np.random.seed(1)
    first = draws(7)
    np.random.seed(2)
    assert draws(7) == first
    assert draws(8) != first


class TopGenerator(np.random.Generator):
    """Draws the highest number there is, where rounding is at its worst."""

    def random(self, *_: object, **__: object) -> float:  # type: ignore[override]
        return float(np.nextafter(1.0, 0.0))


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30).filter(any))
def test_what_has_no_chance_is_never_drawn(chances: list[float]) -> None:
    for generator in (new_generator(3), TopGenerator(np.random.Philox(0))):
        assert chances[draw(np.array([0.0, *chances, 0.0]), generator) - 1] > 0


@pytest.mark.parametrize("score", [np.nan, np.inf])
def test_scores_that_are_no_numbers_are_an_error(score: float) -> None:
    with pytest.raises(GenerationError, match="not numbers"):
        sample(logits_with(t5=score), [], new_generator(1), may_stop=True)
