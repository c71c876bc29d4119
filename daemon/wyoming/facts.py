"""What the daemon must know of the Wyoming server before it imports its libraries."""

from importlib.util import find_spec

from daemon.config import Wyoming

INSTALL = ".venv/bin/pip install -e '.[wyoming]'"


def to_install(options: Wyoming) -> str | None:
    """What is not installed and how to get it, as a sentence; None when all is there."""
    wanted = ("wyoming", "zeroconf") if options.zeroconf else ("wyoming",)
    absent = [name for name in wanted if find_spec(name) is None]
    return f"{', '.join(absent)} must be installed: {INSTALL}" if absent else None
