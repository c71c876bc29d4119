"""Log lines for people and for journald."""

import logging
import os
import sys

# sd-daemon(3): a "<N>" prefix tells journald the level.
_SYSLOG_LEVELS = {"DEBUG": 7, "INFO": 6, "WARNING": 4, "ERROR": 3, "CRITICAL": 2}


class JournalFormatter(logging.Formatter):
    """No time stamp, which journald adds, and the level as journald reads it."""

    def format(self, record: logging.LogRecord) -> str:
        level = _SYSLOG_LEVELS.get(record.levelname, 6)
        return "\n".join(f"<{level}>{line}" for line in super().format(record).splitlines())


def setup(level: str) -> None:
    """Sends all logging to stderr, in journald's form where stderr is the journal."""
    handler = logging.StreamHandler(sys.stderr)
    if "JOURNAL_STREAM" in os.environ:
        handler.setFormatter(JournalFormatter("%(message)s"))
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)-7s %(message)s", "%H:%M:%S"))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
