"""What the machine says of its heat and memory. No sensor means None, never 0."""

import re
import shutil
from pathlib import Path
from typing import NamedTuple

# psutil hides the thermal zones as soon as any hwmon file exists, so both are read here.
_PROCESSOR = re.compile(r"cpu|soc|core|cluster|k10temp|zenpower", re.IGNORECASE)
_PLAUSIBLE_C = (-40.0, 150.0)


class Reading(NamedTuple):
    temperature_c: float | None
    memory_available_bytes: int | None


def read(root: Path) -> Reading:
    """Reads the sensors below `root`, normally `/`."""
    return Reading(temperature_c(root), memory_available_bytes(root))


def temperature_c(root: Path) -> float | None:
    """The processor's temperature: the highest sensor that is the processor's, else the highest of all."""
    found = [*_hwmon(root), *_thermal_zones(root)]
    processor = [value for name, value in found if _PROCESSOR.search(name)]
    return max(processor or [value for _, value in found], default=None)


def memory_available_bytes(root: Path) -> int | None:
    """MemAvailable of /proc/meminfo."""
    match = re.search(r"^MemAvailable:\s+(\d+) kB", _text(root / "proc/meminfo") or "", re.MULTILINE)
    return int(match[1]) * 1024 if match else None


def disk_free_bytes(folder: Path) -> int | None:
    """Free space for this user where `folder` is or will be."""
    existing = next((path for path in (folder, *folder.parents) if path.exists()), None)
    try:
        return shutil.disk_usage(existing).free if existing else None
    except OSError:
        return None


def _hwmon(root: Path) -> list[tuple[str, float]]:
    sensors = []
    for file in sorted((root / "sys/class/hwmon").glob("hwmon*/temp*_input")):
        sensors.append((_text(file.parent / "name") or "", _celsius(file)))
    return [(name, value) for name, value in sensors if value is not None]


def _thermal_zones(root: Path) -> list[tuple[str, float]]:
    sensors = []
    for zone in sorted((root / "sys/class/thermal").glob("thermal_zone*")):
        sensors.append((_text(zone / "type") or "", _celsius(zone / "temp")))
    return [(name, value) for name, value in sensors if value is not None]


def _celsius(file: Path) -> float | None:
    try:
        value = int(_text(file) or "") / 1000.0
    except ValueError:
        return None
    return value if _PLAUSIBLE_C[0] <= value <= _PLAUSIBLE_C[1] else None


def _text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="ascii", errors="replace").strip()
    except OSError:  # absent, or a sensor that is asleep
        return None
