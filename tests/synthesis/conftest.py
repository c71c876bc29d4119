from collections.abc import Iterator

import psutil
import pytest

from tests.children.coroutines import run_if_coroutine


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    return run_if_coroutine(pyfuncitem)


@pytest.fixture(autouse=True)
def no_process_left() -> Iterator[None]:
    yield
    assert psutil.Process().children() == []
