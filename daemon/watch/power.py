"""What a Raspberry Pi's firmware says of its power supply, and of the processor that it slows."""

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from daemon.watch import tree

VCGENCMD_DEADLINE_S = 2.0

# Bits of `vcgencmd get_throttled`, documented with Raspberry Pi OS.
_UNDERVOLTAGE = 1 << 0
_SLOWED = 1 << 1 | 1 << 2 | 1 << 3  # frequency capped, throttled, soft temperature limit
_HAPPENED = 16  # the same four, so far to the left: since they were last cleared

# The driver prints hexadecimal digits alone, vcgencmd `throttled=0x50005`.
_BITS = re.compile(r"(?:throttled=)?(?:0x)?([0-9a-f]{1,8})", re.IGNORECASE)


class Power(NamedTuple):
    """None where the machine does not tell."""

    undervoltage: bool | None = None  # the supply is too weak now
    slowed: bool | None = None  # the firmware caps or throttles the processor now
    undervoltage_happened: bool | None = None
    slowed_happened: bool | None = None


def read(root: Path, *, since_boot: bool = False) -> Power:
    """What there is to know, within the deadline of vcgencmd.

    Args:
        since_boot: have what happened cover all the time since the start of the machine, at the price of a
            process. The kernel's own file is cheaper, but the kernel clears those bits every other second.
    """
    ask = (_vcgencmd, _kernel_file) if since_boot else (_kernel_file, _vcgencmd)
    bits = next((bits for source in ask if (bits := source(root)) is not None), None)
    # The firmware's bit is of this instant; the kernel's alarm covers two seconds, and dips are short.
    alarm = _alarm(root)
    if bits is None:
        return Power(undervoltage=alarm, undervoltage_happened=alarm or None)
    return Power(
        undervoltage=bool(bits & _UNDERVOLTAGE) or alarm is True,
        slowed=bool(bits & _SLOWED),
        undervoltage_happened=bool(bits >> _HAPPENED & _UNDERVOLTAGE) or alarm is True,
        slowed_happened=bool(bits >> _HAPPENED & _SLOWED),
    )


def parse(text: str) -> int | None:
    """The bits of `throttled=0x50005` or of `50005`."""
    found = _BITS.fullmatch(text.strip())
    return int(found[1], 16) if found else None


def _kernel_file(root: Path) -> int | None:
    """The driver's file: soc/soc:firmware on a Pi 3 or 4; a Pi 5 has another soc, and mostly no such file."""
    platform = root / "sys/devices/platform"
    for pattern in ("*firmware*/get_throttled", "*/*firmware*/get_throttled"):
        for file in sorted(platform.glob(pattern)):
            if (bits := parse(tree.text(file) or "")) is not None:
                return bits
    return None


def _vcgencmd(root: Path) -> int | None:
    programs = [root / folder / "vcgencmd" for folder in ("usr/bin", "opt/vc/bin")]
    program = next((program for program in programs if os.path.isfile(program)), None)
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, "get_throttled"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=VCGENCMD_DEADLINE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):  # not for this user, or the firmware is silent
        return None
    return parse(done.stdout.decode("ascii", "replace")) if done.returncode == 0 else None


def _alarm(root: Path) -> bool | None:
    """Undervoltage as the kernel's driver `rpi_volt` has seen it."""
    for name in sorted((root / "sys/class/hwmon").glob("hwmon*/name")):
        if tree.text(name) == "rpi_volt":
            found = tree.number(name.with_name("in0_lcrit_alarm"))
            return None if found is None else found != 0
    return None
