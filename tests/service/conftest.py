from pathlib import Path

import pytest

from daemon.service.plan import Machine
from tests.service.machine import Runner, booted


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return booted(tmp_path)


@pytest.fixture
def runner() -> Runner:
    return Runner()
