"""One tiny model for all tests of the language model."""

from collections.abc import Iterator

import pytest
import torch

from cosyvoice.llm.speech_lm import SpeechLm
from tests.llm.model import tiny_lm


@pytest.fixture(scope="session")
def lm() -> SpeechLm:
    return tiny_lm()


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with torch.inference_mode():
        yield
    torch.set_num_threads(before)
