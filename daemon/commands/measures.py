"""What `bench` reports, and how."""

import json
import os
import platform
import shutil
from collections.abc import Iterable
from pathlib import Path

import msgspec
import psutil

from daemon import __version__


class Measure(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the report."""

    what: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None

    @property
    def met(self) -> bool:
        over = self.at_most is not None and self.value > self.at_most
        return not over and not (self.at_least is not None and self.value < self.at_least)


def report(measures: Iterable[Measure], as_json: bool, **about: object) -> list[Measure]:
    """Prints the measures, each as it comes or all as JSON together with `about`; returns them."""
    done: list[Measure] = []
    for measure in measures:
        done.append(measure)
        if not as_json:
            print(_line(measure), flush=True)
    if as_json:
        whole = {
            "version": __version__,
            "machine": _machine(),
            "python": platform.python_version(),
            **about,
            "measures": [{**msgspec.to_builtins(measure), "met": measure.met} for measure in done],
        }
        print(json.dumps(whole, ensure_ascii=False, indent=2))
    return done


def _machine() -> str:
    memory_gib = psutil.virtual_memory().total / 2**30
    return f"{_processor()}, {os.cpu_count()} cores, {memory_gib:.0f} GiB"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith(("model name", "Model")))
    return next(names, platform.machine())


def _line(measure: Measure) -> str:
    goal = ""
    if measure.at_most is not None:
        goal = f"at most {measure.at_most:g}"
    elif measure.at_least is not None:
        goal = f"at least {measure.at_least:g}"
    verdict = ("met" if measure.met else "SHORT") if goal else ""
    width = min(48, shutil.get_terminal_size().columns)
    return f"{measure.what:{width}} {measure.value:9g} {measure.unit:4} {goal:14} {verdict}".rstrip()
