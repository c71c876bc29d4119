"""What optional parts need to be installed, told before anything of it is imported."""

import importlib.util
from collections.abc import Collection


def command(extra: str) -> str:
    """The command that installs an extra of this package."""
    return f".venv/bin/pip install -e '.[{extra}]'"


def absent(libraries: Collection[str]) -> list[str]:
    """Those that are not installed."""
    return [name for name in libraries if importlib.util.find_spec(name) is None]


def to_install(libraries: Collection[str], extra: str) -> str | None:
    """What is not installed and how to get it, as a sentence; None when all is there."""
    names = absent(libraries)
    return f"{', '.join(names)} must be installed: {command(extra)}" if names else None
