"""Fake trees of the kernel's files."""

from collections.abc import Mapping
from pathlib import Path

UNREADABLE = None  # as the text of a file: reading it is an error of the system


def plant(root: Path, files: Mapping[str, str | None]) -> Path:
    """Writes files below `root`, and returns it."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is UNREADABLE:
            path.mkdir()  # an error for every user, as a sensor that is asleep
        else:
            path.write_text(text)
    return root


def zone(number: int, kind: str, temp: str | None, mode: str = "enabled") -> dict[str, str | None]:
    folder = f"sys/class/thermal/thermal_zone{number}"
    return {f"{folder}/type": f"{kind}\n", f"{folder}/temp": temp, f"{folder}/mode": f"{mode}\n"}


def chip(number: int, name: str, *temps: str | None, labels: tuple[str, ...] = ()) -> dict[str, str | None]:
    folder = f"sys/class/hwmon/hwmon{number}"
    files: dict[str, str | None] = {f"{folder}/name": f"{name}\n"}
    files |= {f"{folder}/temp{n}_input": temp for n, temp in enumerate(temps, 1)}
    return files | {f"{folder}/temp{n}_label": f"{label}\n" for n, label in enumerate(labels, 1)}


def vcgencmd(root: Path, script: str, folder: str = "usr/bin") -> Path:
    """A program in the place of vcgencmd."""
    plant(root, {f"{folder}/vcgencmd": f"#!/bin/sh\n{script}\n"})
    (root / folder / "vcgencmd").chmod(0o755)
    return root
