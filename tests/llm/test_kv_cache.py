import pytest
import torch
from torch import Tensor

from cosyvoice.llm import kv_cache
from cosyvoice.llm.speech_lm import SpeechLm
from tests.llm.model import CONFIG


def embeddings(rows: int, seed: int) -> Tensor:
    return torch.randn(rows, CONFIG.hidden, generator=torch.Generator().manual_seed(seed))


def test_what_was_truncated_leaves_no_trace(lm: SpeechLm) -> None:
    cache = lm.new_cache(8)
    lm(embeddings(3, seed=1), cache)
    expected = lm(embeddings(2, seed=2), cache)
    cache.truncate(3)
    lm(embeddings(4, seed=3), cache)
    cache.truncate(3)
    torch.testing.assert_close(lm(embeddings(2, seed=2), cache), expected, rtol=0, atol=0)


def test_a_restored_copy_is_read_on_in_another_cache(lm: SpeechLm) -> None:
    first = lm.new_cache(8)
    lm(embeddings(3, seed=1), first)
    copy = first.copy(3)
    expected = lm(embeddings(2, seed=2), first)
    first.truncate(0)
    lm(embeddings(5, seed=3), first)  # the copy must not see this

    second = lm.new_cache(5)
    second.restore(copy)
    assert second.length == 3
    torch.testing.assert_close(lm(embeddings(2, seed=2), second), expected, rtol=0, atol=1e-6)


def test_more_positions_than_fit_are_refused(lm: SpeechLm) -> None:
    cache = lm.new_cache(4)
    lm(embeddings(3, seed=1), cache)
    with pytest.raises(ValueError, match="5 positions do not fit a cache of 4"):
        lm(embeddings(2, seed=2), cache)
    assert cache.length == 3


def test_rotations_turn_each_pair_at_its_own_pace() -> None:
    turns = kv_cache.rotations(positions=3, head_dim=4)
    angles = torch.tensor([[0.0, 0.0], [1.0, 1e-3], [2.0, 2e-3]])  # 1e6 ** -(2 / 4) is 1e-3
    torch.testing.assert_close(turns, torch.polar(torch.ones(3, 2), angles))
