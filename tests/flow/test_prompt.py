"""A voice from outside is checked before it is used."""

import pytest
import torch

from cosyvoice.errors import VoiceError
from cosyvoice.flow.flow import Flow
from cosyvoice.flow.prompt import FlowPrompt, checked_prompt, fitted
from cosyvoice.flow.stream import prepare_prompt
from cosyvoice.quality import FAST


def test_every_misfit_is_named() -> None:
    with pytest.raises(VoiceError) as caught:
        checked_prompt(torch.tensor([5, 6561]), torch.zeros(3, 80), torch.zeros(1, 192))
    assert caught.value.problems == (
        "a speech token is outside 0 to 6560",
        "the mel has the shape (3, 80) instead of (4, 80) for its speech tokens",
        "the speaker embedding has the shape (1, 192)",
    )


@pytest.mark.parametrize("tokens", [torch.tensor([[1, 2]]), torch.tensor([1.0, 2.0]), torch.tensor([-1, 2])])
def test_tokens_that_are_none_are_refused(tokens: torch.Tensor) -> None:
    with pytest.raises(VoiceError, match="speech token"):
        checked_prompt(tokens, torch.zeros(4, 80), torch.zeros(192))


def test_a_good_prompt_passes_in_the_types_of_the_network() -> None:
    prompt = checked_prompt(
        torch.tensor([0, 6560], dtype=torch.int32), torch.zeros(4, 80, dtype=torch.float16), torch.zeros(192)
    )
    assert (prompt.tokens.dtype, prompt.mel.dtype, prompt.frames) == (torch.int64, torch.float32, 4)


@pytest.mark.parametrize(("before", "after"), [(0, 0), (24, 24), (25, 25), (49, 25), (75, 75), (78, 75)])
def test_a_fitted_prompt_is_the_end_of_the_prompt(before: int, after: int) -> None:
    whole = FlowPrompt(
        torch.arange(before), torch.arange(2.0 * before)[:, None].expand(-1, 80), torch.ones(192)
    )
    prompt = fitted(whole)
    assert prompt.tokens.tolist() == list(range(before - after, before))
    assert prompt.mel[:, 0].tolist() == list(range(2 * (before - after), 2 * before))


def test_a_fitted_prompt_is_kept_whole_where_it_is_closed(flow: Flow, prompt: FlowPrompt) -> None:
    whole = fitted(prompt)
    assert prepare_prompt(flow, whole, FAST, closed=True).past.frames == whole.frames
    assert prepare_prompt(flow, whole, FAST).past.frames == whole.frames - 50
