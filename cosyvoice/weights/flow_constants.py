"""What the flow comes to whatever it is asked to say, computed once when a model is prepared."""

from collections.abc import Iterator

import torch
from torch import Tensor

from cosyvoice.errors import ModelError
from cosyvoice.flow.denoise import unconditional_start
from cosyvoice.flow.flow import Flow
from cosyvoice.flow.modulation import ComputedModulations, TabulatedModulations, tabulate
from cosyvoice.weights import windows
from cosyvoice.weights.description import WHERE
from cosyvoice.weights.layout import MODULATIONS, START, TABLE
from cosyvoice.weights.networks import FLOW
from cosyvoice.weights.published import PublishedModel


def compute(published: PublishedModel, times: tuple[float, ...]) -> Iterator[tuple[str, Tensor]]:
    """The two constants of a prepared flow, by name.

    Raises:
        ModelError: the published weights are damaged.
    """
    with torch.inference_mode():
        table = _modulations(published, times)
        for name, constant in ((TABLE, table), (START, _start(published, times, table))):
            if not constant.isfinite().all():
                raise ModelError([f"flow.pt is damaged, it computes what is no number: {WHERE}"])
            yield name, constant


def _modulations(published: PublishedModel, times: tuple[float, ...]) -> Tensor:
    """(times, 6 * depth + 2, dim) float32: what 138 M weights come to at the times that are ever used."""
    rules = [rule for rule in FLOW.rules(published.config) if rule.target.startswith(MODULATIONS)]
    with torch.device("meta"):
        module = ComputedModulations(published.config.flow)
    state = {
        rule.target.removeprefix(MODULATIONS): tensor
        for rule, tensor in windows.convert(published, FLOW, rules)
    }
    module.load_state_dict(state, assign=True)
    return tabulate(module, times)


def _start(published: PublishedModel, times: tuple[float, ...], table: Tensor) -> Tensor:
    """(1, frames, 80) float32: the unconditional velocity at time 0."""
    rules = [rule for rule in FLOW.rules(published.config) if not rule.target.startswith(MODULATIONS)]
    state = {TABLE: table}
    # Fused tensors are copies, so they are made first, each window of what they are made of given back.
    fused = [rule for rule in rules if len(rule.sources) > 1]
    for group in windows.split(published, FLOW, fused):
        state |= {rule.target: tensor for rule, tensor in windows.convert(published, FLOW, group)}
    single = [rule for rule in rules if len(rule.sources) == 1]
    state |= {rule.target: tensor for rule, tensor in windows.convert(published, FLOW, single)}
    with torch.device("meta"):
        flow = Flow(published.config.flow, TabulatedModulations(published.config.flow, times))
    flow.load_state_dict(state, assign=True)
    return unconditional_start(flow)
