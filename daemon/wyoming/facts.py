"""What the daemon must know of the Wyoming server before it imports its libraries."""

from daemon import extras
from daemon.config import Wyoming

EXTRA = "wyoming"
INSTALL = extras.command(EXTRA)


def to_install(options: Wyoming) -> str | None:
    """What is not installed and how to get it, as a sentence; None when all is there."""
    wanted = ("wyoming", "zeroconf") if options.zeroconf else ("wyoming",)
    return extras.to_install(wanted, EXTRA)
