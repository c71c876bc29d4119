"""A tiny random model: published, and prepared from it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from cosyvoice.weights import convert, random_model


def no_progress(_step: str, _done: int, _total: int) -> None:
    """For whoever does not look."""


def prepare(source: Path, target: Path) -> None:
    convert.prepare(source, target, enrolment=True, version="1.2.3", progress=no_progress)


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Tiny products on several threads wait for each other, for seconds on a busy machine."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tiny_published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Not to be written to."""
    folder = tmp_path_factory.mktemp("models") / "published"
    random_model.write(folder, "tiny", seed=0)
    return folder


@pytest.fixture(scope="session")
def tiny_prepared(tiny_published: Path) -> Path:
    """Not to be written to."""
    folder = tiny_published.with_name("prepared")
    prepare(tiny_published, folder)
    return folder


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[Path], Path]:
    """Makes a copy of a folder that a test may spoil."""
    return lambda folder: Path(shutil.copytree(folder, tmp_path / folder.name))
