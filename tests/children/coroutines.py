"""Lets pytest run tests that are coroutines, each on an event loop of its own."""

import asyncio
import inspect
from typing import Any

import pytest


def run_if_coroutine(item: pytest.Function) -> bool | None:
    """For the hook `pytest_pyfunc_call`: True when the test was a coroutine and ran."""
    if not inspect.iscoroutinefunction(item.obj):
        return None
    names = inspect.signature(item.obj).parameters
    arguments: dict[str, Any] = {name: item.funcargs[name] for name in names}
    asyncio.run(item.obj(**arguments))
    return True
