"""A real device and a real broker for a real Home Assistant: `./test.sh --home-assistant`."""

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.system.device import Device
from tests.watch.trees import plant, zone

LONG = "This sentence is long enough that somebody can change his mind while it is being spoken aloud."


def pytest_report_header() -> list[str]:
    return [f"homeassistant {version('homeassistant')}, paho-mqtt {version('paho-mqtt')}"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(120))


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Device]:
    """One device for the tests of a module; its processor has 45.6 degrees and free memory is unknown."""
    folder = tmp_path_factory.mktemp("device")
    root = plant(folder / "root", zone(0, "cpu-thermal", "45600"))
    with Device(folder, watch={"root": str(root)}) as device:
        yield device


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Home Assistant's configuration; the tests of a module follow each other as its restarts."""
    return tmp_path_factory.mktemp("home")
