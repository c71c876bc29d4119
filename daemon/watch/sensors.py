"""What the machine says of its heat, memory and power. No sensor means None, never 0."""

import shutil
from pathlib import Path
from typing import NamedTuple

from daemon.watch import memory, power, temperature
from daemon.watch.memory import memory_available_bytes
from daemon.watch.temperature import Sensor, list_sensors

__all__ = ["Reading", "Sensor", "disk_free_bytes", "list_sensors", "memory_available_bytes", "read"]


class Reading(NamedTuple):
    """One look at all sensors; None is unknown."""

    temperature_c: float | None = None
    memory_available_bytes: int | None = None  # within our cgroup's limits, swap not counted
    memory_total_bytes: int | None = None
    swap_total_bytes: int | None = None
    swap_free_bytes: int | None = None
    memory_stall_percent: float | None = None  # of the last 10 s, in which all tasks waited for memory
    undervoltage: bool | None = None  # the power supply is too weak now
    slowed: bool | None = None  # the firmware caps or throttles the processor now
    undervoltage_happened: bool | None = None  # has been
    slowed_happened: bool | None = None


def read(root: Path, sensor: str | None = None) -> Reading:
    """Reads the sensors below `root`, normally `/`; takes at most some seconds where a firmware is silent.

    Args:
        sensor: the temperature to go by, see `temperature.hottest`.
    """
    hottest = temperature.hottest(root, sensor)
    free = memory.read(root)
    supply = power.read(root)
    return Reading(
        temperature_c=hottest.celsius if hottest else None,
        memory_available_bytes=free.available_bytes,
        memory_total_bytes=free.total_bytes,
        swap_total_bytes=free.swap_total_bytes,
        swap_free_bytes=free.swap_free_bytes,
        memory_stall_percent=free.stall_percent,
        undervoltage=supply.undervoltage,
        slowed=supply.slowed,
        undervoltage_happened=supply.undervoltage_happened,
        slowed_happened=supply.slowed_happened,
    )


def disk_free_bytes(folder: Path) -> int | None:
    """Free space for this user where `folder` is or will be."""
    for place in (folder, *folder.parents):
        try:
            return shutil.disk_usage(place).free
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            return None
    return None
