"""The published toy checkpoint, and what the official modules made of it."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from cosyvoice.config import TINY
from cosyvoice.flow import weights
from cosyvoice.flow.flow import Flow
from cosyvoice.flow.modulation import ComputedModulations
from cosyvoice.flow.prompt import FlowPrompt, checked_prompt
from cosyvoice.weights.rules import convert

DATA = Path(__file__).parents[1] / "data" / "cosyvoice3"
Golden = Mapping[str, Tensor]


@pytest.fixture(autouse=True)
def inference() -> Iterator[None]:
    """As the engine runs it; and one thread, since toy networks only wait for more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with torch.inference_mode():
        yield
    torch.set_num_threads(before)


def load_tiny() -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = torch.load(DATA / "tiny" / "flow.pt", weights_only=True)
    return tensors


def load_golden(stream: bool, final: bool) -> Golden:
    with np.load(DATA / "golden" / f"flow_stream{stream:d}_final{final:d}.npz") as file:
        return {name: torch.from_numpy(array) for name, array in file.items()}


def prompt_of(golden: Golden) -> FlowPrompt:
    return checked_prompt(golden["prompt_token"][0], golden["prompt_feat"][0], golden["embedding"][0])


@pytest.fixture(scope="session")
def flow() -> Flow:
    with torch.device("meta"):
        flow = Flow(TINY.flow, ComputedModulations(TINY.flow))
    state = convert(load_tiny(), weights.rules(TINY.flow))
    flow.load_state_dict(state, strict=True, assign=True)
    return flow.requires_grad_(False)


@pytest.fixture(scope="session")
def prompt() -> FlowPrompt:
    """A voice whose prompt fills two chunks and a part of the third, as a clip of 3 s does."""
    generator = torch.Generator().manual_seed(7)
    return checked_prompt(
        torch.randint(0, 6561, (75,), generator=generator),
        torch.randn(150, 80, generator=generator) * 2 - 5,
        torch.randn(192, generator=generator),
    )


@pytest.fixture(scope="session")
def tokens() -> list[int]:
    """New speech of 3.2 s: it ends inside a chunk."""
    numbers: list[int] = torch.randint(0, 6561, (80,), generator=torch.Generator().manual_seed(8)).tolist()
    return numbers
