"""What the daemon must know of the gateway before it imports its libraries."""

from daemon import extras

EXTRA = "web"
INSTALL = extras.command(EXTRA)
LIBRARIES = ("starlette", "uvicorn")
MIN_TOKEN_CHARACTERS = 16  # shorter ones can be guessed


def to_install() -> str | None:
    """What is not installed and how to get it, as a sentence; None when all is there."""
    return extras.to_install(LIBRARIES, EXTRA)
