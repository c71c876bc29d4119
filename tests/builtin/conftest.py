"""One loaded engine for all tests here: joining and loading take a few seconds."""

from pathlib import Path

import pytest

from daemon.synthesis.builtin.engine import BuiltinEngine


@pytest.fixture(scope="session")
def state_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="session")
def engine(state_dir: Path) -> BuiltinEngine:
    engine = BuiltinEngine(state_dir, threads=2)
    engine.load(lambda line: None)
    return engine
