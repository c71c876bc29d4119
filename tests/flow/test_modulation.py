"""The table of modulations stands for the weights that make them."""

import pytest
import torch

from cosyvoice.config import TINY
from cosyvoice.errors import ModelError
from cosyvoice.flow.flow import Flow
from cosyvoice.flow.modulation import TabulatedModulations, rows, tabulate
from cosyvoice.quality import all_times


def test_table_holds_what_the_weights_compute(flow: Flow) -> None:
    table = TabulatedModulations(TINY.flow, all_times())
    table.load_state_dict({"table": tabulate(flow.modulations, all_times())}, assign=True)

    for time in all_times():
        assert table.at(time).shape == (rows(TINY.flow), TINY.flow.dim)
        assert torch.equal(table.at(time), flow.modulations.at(time))


def test_unknown_time_is_an_error_that_tells_what_to_do() -> None:
    table = TabulatedModulations(TINY.flow, (0.0, 0.5))
    with pytest.raises(ModelError, match=r"no modulations for the time 0\.25: prepare it again"):
        table.at(0.25)
