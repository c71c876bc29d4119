"""`cosyvoiced bench --engine cosyvoice3`: speed, memory and quality of the heavy engine on this machine.

Each model runs in a process of its own (`cosyvoice.measure`), so that its memory is its own.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cosyvoice.quality import DEFAULT, QUALITIES
from daemon.children.child import ChildError
from daemon.commands.measures import Measure, report
from daemon.errors import CosyvoicedError
from daemon.synthesis.cosyvoice3 import facts
from daemon.synthesis.engine import EngineOptions
from daemon.synthesis.process import WorkerProcess

MEASURE_DEADLINE_S = 1800.0
READY_DEADLINE_S = 300.0
STAGES = ("llm", "flow", "vocoder")
SIZE = "full"
MIB = 2**20


def bench(published: Path | None, threads: int, runs: int, as_json: bool, plot: Path | None) -> int:
    """Measures and prints; 0 however fast the machine is.

    Args:
        published: a folder as published; None for random weights of the same size, which cost the same time.
        threads: of the networks.
        runs: of each measurement; the median counts.
        as_json: for programs.
        plot: where to draw the stages' shares.

    Raises:
        CosyvoicedError: something that is measured does not work.
    """
    with tempfile.TemporaryDirectory(prefix="cosyvoiced-bench-") as name:
        folder = Path(name)
        weights = "random" if published is None else "published"
        measured: dict[str, Any] = {}
        report(
            _measure(folder, published, threads, runs, measured),
            as_json=as_json,
            weights=weights,
            threads=threads,
        )
    if plot is not None:
        _draw(measured, plot)
    return 0


def _measure(
    folder: Path, published: Path | None, threads: int, runs: int, measured: dict[str, Any]
) -> Iterator[Measure]:
    if published is None:
        published = folder / "published"
        _cosyvoiced("model", "random", "--size", SIZE, str(published))
    prepared, mels = folder / "state" / "models" / "cosyvoice3", folder / "mels"
    mels.mkdir()
    began_s = time.monotonic()
    peak_bytes = _cosyvoiced(
        "model", "prepare", str(published), "--to", str(prepared), "--threads", str(threads)
    )
    yield Measure(what="prepare a published folder, once", value=round(time.monotonic() - began_s), unit="s")
    yield Measure(what="peak memory of that", value=_mib(peak_bytes), unit="MiB", at_most=1536)
    ready_s = [asyncio.run(_ready_s(folder / "state", prepared, threads)) for _ in range(2)]
    yield Measure(what="worker start to READY, warm disk", value=round(ready_s[1], 2), unit="s", at_most=3.0)
    measured |= _run("int8", prepared, mels, "--threads", str(threads), "--runs", str(runs))
    yield from _speed(measured)
    measured |= _run("float32", published, mels, "--threads", str(threads))
    yield from _against_published(measured)
    yield from _distances(_compare(mels))


def _speed(measured: Mapping[str, Any]) -> Iterator[Measure]:
    for name, limit in (("exact", 1.7), ("balanced", 0.9), ("fast", None)):
        spoken = measured[name]
        yield Measure(what=f"RTF, {name}", value=round(spoken["rtf"], 3), unit="", at_most=limit)
        for stage in STAGES:
            yield Measure(what=f"  of which {stage}", value=round(spoken[stage], 3), unit="")
    first_s = measured["balanced_first_sound_s"]
    yield Measure(what="first sound, balanced, streaming", value=round(first_s, 2), unit="s", at_most=1.5)
    peak = measured["balanced_peak_rss_bytes"]
    yield Measure(what="peak memory, balanced", value=_mib(peak), unit="MiB", at_most=1229)
    yield Measure(what="peak memory, exact", value=_mib(measured["exact_peak_rss_bytes"]), unit="MiB")


def _against_published(measured: Mapping[str, Any]) -> Iterator[Measure]:
    plain = measured["as_published"]
    yield Measure(what="RTF, float32 as published", value=round(plain["rtf"], 2), unit="")
    for stage in STAGES:
        yield Measure(what=f"  of which {stage}", value=round(plain[stage], 3), unit="")
    ratio = plain["rtf"] / measured["balanced"]["rtf"]
    yield Measure(what="balanced is faster by", value=round(ratio, 1), unit="x", at_least=10)
    yield Measure(
        what="peak memory, float32 as published", value=_mib(measured["peak_rss_bytes"]), unit="MiB"
    )


def _distances(compared: Mapping[str, Mapping[str, float]]) -> Iterator[Measure]:
    exact = compared["exact"]["int8_cosine"]
    yield Measure(what="mel cosine of int8 to float32, exact", value=round(exact, 5), unit="", at_least=0.999)
    centred = compared["exact"]["int8_correlation"]
    yield Measure(what="  the same, without the mean", value=round(centred, 5), unit="")
    for name in ("balanced", "fast"):
        found = compared[name]
        yield Measure(
            what=f"{name}: mel correlation to exact", value=round(found["correlation_to_exact"], 4), unit=""
        )
        yield Measure(
            what=f"{name}: speaker cosine to exact", value=round(found["speaker_to_exact"], 4), unit=""
        )
        yield Measure(
            what=f"{name}: loudness to exact", value=round(found["loudness_to_exact_db"], 2), unit="dB"
        )


async def _ready_s(state: Path, prepared: Path, threads: int) -> float:
    """Seconds from starting the daemon's worker process to its READY."""
    options = EngineOptions(state, threads, prepared, DEFAULT.name)
    worker = WorkerProcess("daemon.synthesis.worker", options.arguments(facts.NAME))
    began_s = time.monotonic()
    try:
        await worker.start(READY_DEADLINE_S)
    except ChildError as error:
        raise CosyvoicedError(str(error)) from error
    took_s = time.monotonic() - began_s
    await worker.stop()
    return took_s


def _run(kind: str, folder: Path, mels: Path, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        _python("-m", "cosyvoice.measure", kind, str(folder), str(mels), *arguments)
    )
    return found


def _compare(mels: Path) -> dict[str, dict[str, float]]:
    code = "import json, pathlib, sys; from cosyvoice import measure; "
    code += "print(json.dumps(measure.compare(pathlib.Path(sys.argv[1]))))"
    found: dict[str, dict[str, float]] = json.loads(_python("-c", code, str(mels)))
    return found


def _cosyvoiced(*arguments: str) -> int:
    """Runs a command of our own; the most memory that it held, in bytes."""
    code = "import resource, sys; from daemon.cli import main; code = main(sys.argv[1:]); "
    code += "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024); sys.exit(code)"
    return int(_python("-c", code, *arguments).split()[-1])


def _python(*arguments: str) -> str:
    try:
        done = subprocess.run(
            [sys.executable, *arguments],
            env={**os.environ, "GOMP_SPINCOUNT": facts.SPIN_COUNT},  # as the worker has it
            capture_output=True,
            text=True,
            timeout=MEASURE_DEADLINE_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise CosyvoicedError(
            f"it took over {MEASURE_DEADLINE_S:.0f} s: {' '.join(arguments[:3])}"
        ) from error
    if done.returncode != 0:
        raise CosyvoicedError((done.stderr.strip() or done.stdout.strip()).splitlines()[-1])
    return done.stdout


def _mib(size: int) -> float:
    return round(size / MIB, 1)


def _draw(measured: Mapping[str, Any], path: Path) -> None:
    """A bar for each way to speak, cut into its stages."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise CosyvoicedError("--plot needs matplotlib: .venv/bin/pip install matplotlib") from error
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    axes = figure.add_subplot()
    names = ("as_published", *QUALITIES)
    left = [0.0] * len(names)
    for stage in STAGES:
        widths = [measured[name][stage] for name in names]
        axes.barh(names, widths, left=left, label=stage)
        left = [start + width for start, width in zip(left, widths, strict=True)]
    axes.axvline(1.0, color="black", linestyle=":", label="real time")
    axes.set_xlabel("seconds of work for a second of speech")
    axes.invert_yaxis()
    axes.legend()
    figure.savefig(path)
