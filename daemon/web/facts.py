"""What the daemon must know of the gateway before it imports its libraries."""

from importlib.util import find_spec

INSTALL = ".venv/bin/pip install -e '.[web]'"
LIBRARIES = ("starlette", "uvicorn")
MIN_TOKEN_CHARACTERS = 16  # shorter ones can be guessed


def to_install() -> str | None:
    """What is not installed and how to get it, as a sentence; None when all is there."""
    absent = [name for name in LIBRARIES if find_spec(name) is None]
    return f"{', '.join(absent)} must be installed: {INSTALL}" if absent else None
