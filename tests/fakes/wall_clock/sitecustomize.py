"""A wall clock that jumps: with this folder in PYTHONPATH, the file $WALL_CLOCK_OFFSET is added to it.

Python reads this at its start. The clocks that count seconds are left alone, as a real jump leaves them.
(libfaketime moves absolute sleeps on the monotonic clock, too, which no jump does.)
"""

import os
import time
from collections.abc import Callable
from pathlib import Path

_OFFSET = Path(os.environ["WALL_CLOCK_OFFSET"])


def _shifted(clock: Callable[[], float]) -> Callable[[], float]:
    return lambda: clock() + float(_OFFSET.read_text())


time.time = _shifted(time.time)
