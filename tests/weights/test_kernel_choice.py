"""The kernels' record belongs to one machine."""

from pathlib import Path

import pytest

from cosyvoice.errors import ModelError
from cosyvoice.weights import kernel_choice
from cosyvoice.weights.kernel_choice import KernelChoice

CHOICE = KernelChoice(
    machine=kernel_choice.machine(), threads=2, kernels={"llm": {"64x32": "by_row"}, "flow": {}}
)

X86 = 2 * "model\t\t: 190\nmodel name\t: Intel(R) N100\n"
ORANGE_PI_5 = "processor\t: 0\nCPU part\t: 0xd05\nprocessor\t: 4\nCPU part\t: 0xd0b\nCPU part\t: 0xd0b\n"


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert kernel_choice.read(tmp_path) is None
    kernel_choice.write(tmp_path, CHOICE)
    assert kernel_choice.read(tmp_path) == CHOICE
    assert [path.name for path in tmp_path.iterdir()] == [kernel_choice.FILE]


def test_a_kernel_is_found_by_its_weight_and_network() -> None:
    assert CHOICE.kernel("llm", 64, 32) == "by_row"
    with pytest.raises(KeyError):
        CHOICE.kernel("flow", 64, 32)


def test_a_damaged_one_says_how_to_measure_again(tmp_path: Path) -> None:
    (tmp_path / kernel_choice.FILE).write_text("{}")
    with pytest.raises(ModelError, match="cosyvoiced model tune"):
        kernel_choice.read(tmp_path)


def test_another_machine_or_another_number_of_threads_makes_it_stale() -> None:
    assert not kernel_choice.is_stale(CHOICE, 2)
    assert kernel_choice.is_stale(CHOICE, 4)
    elsewhere = KernelChoice(machine="a board", threads=2, kernels=CHOICE.kernels)
    assert kernel_choice.is_stale(elsewhere, 2)


@pytest.mark.parametrize(
    ("cpuinfo", "ending"), [(X86, " Intel(R) N100"), (ORANGE_PI_5, " 0xd05 0xd0b"), ("", "")]
)
def test_processors_are_told_apart(cpuinfo: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / "cpuinfo"
    path.write_text(cpuinfo)
    architecture = kernel_choice.machine(tmp_path / "none")
    assert kernel_choice.machine(path) == architecture + ending
