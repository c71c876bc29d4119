"""The engine and the listener, loaded once; Whisper's joined weights stay in pytest's cache."""

from pathlib import Path

import pytest

from daemon.synthesis.builtin.engine import BuiltinEngine
from tests.listen.listener import Listener, Scorer, weights


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> BuiltinEngine:
    engine = BuiltinEngine(tmp_path_factory.mktemp("state"), threads=2)
    engine.load(lambda line: None)
    return engine


@pytest.fixture(scope="session")
def listener(pytestconfig: pytest.Config) -> Listener:
    return Listener(weights(Path(pytestconfig.cache.mkdir("listener"))))


@pytest.fixture(scope="session")
def scorer() -> Scorer:
    return Scorer()
