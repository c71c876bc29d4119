"""Every int8 layer gets a kernel that this machine has."""

from collections.abc import Mapping

import pytest
import torch

from cosyvoice.config import FULL, TINY
from cosyvoice.int8 import choose, kernels
from cosyvoice.weights import kernel_choice, tune
from cosyvoice.weights.networks import FLOW, LLM, Network


@pytest.mark.parametrize("network", [LLM, FLOW], ids=lambda network: network.name)
def test_each_int8_layer_has_a_kernel(network: Network) -> None:
    choice = tune.tune(TINY, threads=1)
    assert (choice.machine, choice.threads) == (kernel_choice.machine(), 1)
    for rule in network.rules(TINY):
        if network.is_int8(rule.target):
            sources = (torch.empty(network.published(TINY)[name], device="meta") for name in rule.sources)
            outputs, columns = rule.make(*sources).shape
            assert choice.kernel(network.name, outputs, columns) in kernels.available()


def test_a_token_is_measured_alone_and_frames_together(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[Mapping[tuple[int, int], int]] = []

    def measure(
        shapes: Mapping[tuple[int, int], int], _threads: int
    ) -> dict[tuple[int, int], dict[str, float]]:
        measured.append(shapes)
        return {shape: {"by_row": 1.0} for shape in shapes}

    monkeypatch.setattr(choose, "measure", measure)
    tune.tune(FULL, threads=1)
    llm, flow = measured
    assert llm == dict.fromkeys([(6761, 896), (1152, 896), (896, 896), (9728, 896), (896, 4864)], 1)
    assert flow.keys() == {(3072, 1024), (1024, 1024), (2048, 1024), (1024, 2048)}
    assert min(flow.values()) > 100
