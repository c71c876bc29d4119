"""Temperatures: which sensors there are, and which one tells how hot the processor is.

hwmon and the thermal zones are both read, since some boards tell of the processor in one of them only; psutil
does not look at the zones once any hwmon sensor exists, and that of a disk or a Wi-Fi card is enough.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from daemon.watch import tree

_PLAUSIBLE_C = (-40.0, 150.0)  # beyond: not connected, or not ready

# The kernel's unit is a thousandth of a degree. Nothing that runs is within a degree of freezing, but a zone
# without a sensor says 0, and a driver that gives whole degrees, or a battery's per cent, seems to be there.
_NOTHING_MILLIDEGREES = 1000

_PROCESSOR = re.compile(
    r"cpu|soc(?!ket)|core|cluster|k8temp|k10temp|zenpower|x86_pkg|tdie|tctl", re.IGNORECASE
)

# Parts with a heat of their own, also where their name holds a word of the above: "gpu_core", "CPU fan".
_OTHER_PART = re.compile(
    r"gpu|npu|vpu|tpu|nvidia|nouveau|radeon|ddr|dram|dimm|mem|spd|nvme|ssd|drive|disk|emmc|wi-?fi|wlan|phy"
    r"|modem|ath\d|brcm|mt7|r8169|sfp|batt|bms|charg|power_supply|pmic|vrm|vddc|regulator|fan|ambient|skin|case|usb|rtc",
    re.IGNORECASE,
)


class Sensor(NamedTuple):
    """A temperature sensor as people name it: `coretemp/Core 0`, `cpu_thermal`, `soc-thermal`."""

    name: str
    celsius: float


class _Source(NamedTuple):
    name: str  # of the chip or of the zone
    label: str | None
    file: Path

    @property
    def full_name(self) -> str:
        return f"{self.name}/{self.label}" if self.label else self.name

    @property
    def names(self) -> tuple[str, ...]:
        """All that it can be called."""
        return (self.name, self.label, self.full_name) if self.label else (self.name,)


def list_sensors(root: Path) -> list[Sensor]:
    """All sensors that say something plausible now."""
    return list(_read(_sources(root)))


def hottest(root: Path, named: str | None = None) -> Sensor | None:
    """The sensor to go by; None when it does not exist or says nothing.

    Only what may decide is read: asking a disk for its temperature can keep it from going to sleep.

    Args:
        named: a chip's name, a label, `name/label` or a zone's type, in any case; of several, the hottest.
            None: the processor's, else that of no other part, else any.
    """
    sources = list(_sources(root))
    for group in _named(sources, named) if named is not None else _by_trust(sources):
        if sensors := list(_read(group)):
            return max(sensors, key=lambda sensor: sensor.celsius)
    return None


def _named(sources: list[_Source], named: str) -> Iterator[list[_Source]]:
    wanted = _folded(named)
    yield [source for source in sources if wanted in map(_folded, source.names)]


def _by_trust(sources: list[_Source]) -> Iterator[list[_Source]]:
    yield [source for source in sources if _is_processor(source.name)]
    # Mainboard chips label one of many inputs "CPU", which need not be connected.
    yield [source for source in sources if _is_processor(source.label or "") and not _is_other(source.name)]
    yield [source for source in sources if not _is_other(source.full_name)]
    yield sources


def _is_processor(name: str) -> bool:
    return _PROCESSOR.search(name) is not None and not _is_other(name)


def _is_other(name: str) -> bool:
    return _OTHER_PART.search(name) is not None


def _folded(name: str) -> str:
    """For comparing: the zone cpu-thermal is cpu_thermal in hwmon."""
    return name.strip().casefold().replace("-", "_")


def _sources(root: Path) -> Iterator[_Source]:
    for file in sorted((root / "sys/class/hwmon").glob("hwmon*/temp*_input")):
        if tree.text(_beside(file, "fault")) != "1":
            chip = tree.text(file.parent / "name") or file.parent.name
            yield _Source(chip, tree.text(_beside(file, "label")) or None, file)
    for zone in sorted((root / "sys/class/thermal").glob("thermal_zone*")):
        if tree.text(zone / "mode") != "disabled":
            yield _Source(tree.text(zone / "type") or zone.name, None, zone / "temp")


def _beside(file: Path, what: str) -> Path:
    return file.with_name(file.name.removesuffix("input") + what)


def _read(sources: list[_Source] | Iterator[_Source]) -> Iterator[Sensor]:
    for source in sources:
        millidegrees = tree.number(source.file)
        if millidegrees is None or abs(millidegrees) < _NOTHING_MILLIDEGREES:
            continue
        celsius = millidegrees / 1000
        if _PLAUSIBLE_C[0] <= celsius <= _PLAUSIBLE_C[1]:
            yield Sensor(source.full_name, celsius)
