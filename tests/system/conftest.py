"""Devices for the system tests."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.system.device import Device

StartDevice = Callable[..., Device]


@pytest.fixture
def start_device(tmp_path: Path) -> Iterator[StartDevice]:
    """Starts one device with the configuration sections given; it is ended after the test."""
    with ExitStack() as stack:

        def start(**config: Any) -> Device:
            return stack.enter_context(Device(tmp_path, **config))

        yield start


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Device]:
    """One device for all the tests of a module that leave it as they found it."""
    with Device(tmp_path_factory.mktemp("device")) as device:
        yield device


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.system)
            item.add_marker(pytest.mark.timeout(120))
