"""What all tests share."""

import asyncio
import importlib.util
import inspect
from collections.abc import Iterator
from typing import Any

import psutil
import pytest
from hypothesis import HealthCheck, settings

# A busy machine is slow, not wrong.
settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")


collect_ignore: list[str] = []

# Tests of what needs the extra cosyvoice3.
if importlib.util.find_spec("torch") is None:
    collect_ignore += [
        *("llm", "flow", "vocoder", "int8", "weights", "voices", "text/test_tokenizer.py"),
        *("test_engine.py", "test_prompts.py", "test_doctor_model.py", "test_bench_cosyvoice3.py"),
        *("test_cli_model.py", "test_cli_voices.py", "synthesis/test_cosyvoice3_engine.py"),
        *("system/test_cosyvoice3.py", "system/test_heat.py"),
    ]

# Tests of what needs the extra wyoming.
if importlib.util.find_spec("wyoming") is None:
    collect_ignore += ["wyoming", "system/test_wyoming.py", "listen/test_wyoming_heard.py"]

# Tests of what needs the extra web.
if importlib.util.find_spec("starlette") is None:
    collect_ignore += ["web", "system/test_web.py"]

# What runs inside of Home Assistant: `./test.sh --home-assistant`.
if importlib.util.find_spec("homeassistant") is None:
    collect_ignore.append("homeassistant")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak-minutes", type=float, help="soak for so long; default: a short one")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs a test that is a coroutine, on an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    arguments: dict[str, Any] = {name: pyfuncitem.funcargs[name] for name in names}
    asyncio.run(pyfuncitem.obj(**arguments))
    return True


@pytest.fixture
def no_process_left() -> Iterator[None]:
    """Fails a test that leaves a child process behind."""
    yield
    assert psutil.Process().children() == []
