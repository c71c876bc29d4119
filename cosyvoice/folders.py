"""What folders need so that a power cut leaves them whole."""

import os
from pathlib import Path


def sync(folder: Path) -> None:
    """Makes what was just renamed or removed in a folder outlast a power cut. Raises `OSError`."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
