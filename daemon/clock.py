"""Time that a wrong or jumping wall clock cannot spoil."""

import time
from collections.abc import Callable
from pathlib import Path

import msgspec

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Moment(msgspec.Struct, frozen=True):
    """A point in time that survives a restart of the daemon and of the machine."""

    wall_s: float  # seconds since 1970, as the wall clock said it
    boot_s: float  # seconds since the machine started, suspended time included
    boot_id: str  # which start of the machine `boot_s` counts from

    def seconds_since(self, earlier: "Moment") -> float:
        """Seconds from `earlier` to here; never negative.

        Within one run of the machine the boot clock counts, whatever happened to the wall clock.
        """
        if self.boot_id == earlier.boot_id:
            return max(0.0, self.boot_s - earlier.boot_s)
        return max(0.0, self.wall_s - earlier.wall_s)


Clock = Callable[[], Moment]


def system_clock() -> Clock:
    """The clock of this machine."""
    try:
        boot_id = BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:  # not Linux, or a restricted /proc: the wall clock must do across restarts
        boot_id = f"process-{time.time_ns()}"
    return lambda: Moment(time.time(), time.clock_gettime(time.CLOCK_BOOTTIME), boot_id)
