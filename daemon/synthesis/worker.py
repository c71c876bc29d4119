"""The worker process: one engine, loaded once, that speaks one request after the other.

The main thread works; a second one listens, so that a cancel is noticed, a ping is answered and the
daemon's end ends this process even in the middle of a sentence.
"""

import argparse
import ctypes
import faulthandler
import logging
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from daemon.children.frames import NotReady, Ready
from daemon.children.parent import Parent, ParentGone, claim_stdio
from daemon.synthesis.cosyvoice3.facts import SPIN_COUNT
from daemon.synthesis.engine import Engine, EngineError, EngineOptions
from daemon.synthesis.protocol import (
    TO_WORKER,
    Cancel,
    DaemonMessage,
    Failed,
    Ping,
    Pong,
    Speech,
    Spoken,
    Synthesize,
    WorkerReady,
)

if TYPE_CHECKING:
    from daemon.synthesis.engine import Samples

log = logging.getLogger(__name__)

EngineFactory = Callable[[EngineOptions], Engine]

NICENESS = 5  # below the speaker process and the daemon, above batch work: playback must not stutter
OOM_SCORE_ADJUSTMENT = "500"  # of 1000; a process may always raise its own
PCM_PEAK = 2**15 - 1

EXIT_LEFT, EXIT_BROKEN, EXIT_DEAF = 0, 1, 3  # 2 is argparse's


def _builtin(options: EngineOptions) -> Engine:
    from daemon.synthesis.builtin.engine import BuiltinEngine

    return BuiltinEngine(options.state_dir, options.threads)


def _cosyvoice3(options: EngineOptions) -> Engine:
    # Read when PyTorch is loaded. Its threads wait for each other by spinning, and with the default an
    # announcement took twenty times as long beside one busy neighbour.
    os.environ.setdefault("GOMP_SPINCOUNT", SPIN_COUNT)
    from daemon.synthesis.cosyvoice3.engine import CosyVoice3Engine

    return CosyVoice3Engine(options)


ENGINES: Mapping[str, EngineFactory] = {"builtin": _builtin, "cosyvoice3": _cosyvoice3}


class Worker:
    """One engine at the daemon's service."""

    def __init__(self, parent: Parent[DaemonMessage]) -> None:
        self._parent = parent
        self._jobs: queue.SimpleQueue[Synthesize] = queue.SimpleQueue()
        self._cancelled_job = 0  # jobs count from 1, and only the one being worked on is ever cancelled

    def serve(self, create: Callable[[], Engine]) -> int:
        """Loads the engine and works until the engine breaks; the daemon's leaving ends the process."""
        threading.Thread(target=self._listen, name="listener", daemon=True).start()
        try:
            engine = create()
            engine.load(lambda line: log.info("%s", line))
        except EngineError as error:
            self._parent.send(NotReady(str(error)))
            return EXIT_BROKEN
        except Exception as error:
            log.exception("the engine does not load")
            self._parent.send(NotReady(f"the engine does not load: {_named(error)}"))
            return EXIT_BROKEN
        about = WorkerReady(engine=engine.name, version=engine.version, sample_rate_hz=engine.sample_rate_hz)
        self._parent.send(Ready(msgspec.to_builtins(about)))
        while True:
            _return_free_memory()
            job = self._jobs.get()
            try:
                self._parent.send(self._speak(engine, job))
            except ParentGone:
                raise
            except Exception as error:
                log.exception("job %d: the engine broke, so this process ends", job.job)
                self._parent.send(Failed(job.job, f"the engine broke: {_named(error)}", broken=True))
                return EXIT_BROKEN

    def _speak(self, engine: Engine, job: Synthesize) -> Spoken | Failed:
        def cancelled() -> bool:
            return self._cancelled_job == job.job

        try:
            pieces = engine.synthesize(job.request, cancelled, job.gentle)
            while not cancelled():
                began = time.perf_counter()
                piece = next(pieces, None)
                if piece is None:
                    break
                pcm = to_pcm(piece.samples)
                self._parent.send(Speech(job.job, pcm, piece.degraded, time.perf_counter() - began))
        except EngineError as error:
            return Failed(job.job, str(error))
        return Spoken(job.job, cancelled())

    def _listen(self) -> None:
        """The second thread: ends the whole process at once when the daemon leaves or talks nonsense."""
        try:
            while (message := self._parent.receive()) is not None:
                match message:
                    case Synthesize():
                        self._jobs.put(message)
                    case Cancel():
                        self._cancelled_job = message.job
                    case Ping():
                        self._parent.send(Pong(message.token, _rss_bytes()))
        except ParentGone:
            os._exit(EXIT_LEFT)
        except Exception:
            log.exception("cannot hear the daemon any more")
            os._exit(EXIT_DEAF)
        os._exit(EXIT_LEFT)


def to_pcm(samples: "Samples") -> bytes:
    """16-bit little-endian PCM, rounded, clipped at full scale. Raises `ValueError`: no mono signal."""
    if samples.ndim != 1 or not np.isfinite(samples).all():
        raise ValueError(f"the engine made samples of shape {samples.shape} that are no mono signal")
    return np.rint(np.clip(samples, -1.0, 1.0) * PCM_PEAK).astype("<i2").tobytes()


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _rss_bytes() -> int:
    """Resident memory of this process, from the second field of statm, in pages (proc_pid_statm(5))."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _be_first_to_go() -> None:
    """Has the kernel take this process first when memory runs out, see proc_pid_oom_score_adj(5)."""
    try:
        Path("/proc/self/oom_score_adj").write_text(OOM_SCORE_ADJUSTMENT)
    except OSError as error:  # not Linux, or a /proc that is not ours to write
        log.debug("the OOM score stays as it is: %s", error)


def _return_free_memory() -> None:
    """Hands freed heap back to the system, where the C library is glibc; others do so by themselves."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def main(argv: Sequence[str] | None = None, engines: Mapping[str, EngineFactory] = ENGINES) -> int:
    parent = claim_stdio(TO_WORKER)
    faulthandler.enable()
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s", stream=sys.stderr)
    parser = argparse.ArgumentParser(prog="daemon.synthesis.worker", description=__doc__)
    parser.add_argument("--engine", choices=sorted(engines), required=True)
    parser.add_argument("--state", type=Path, required=True, help="folder for joined models")
    parser.add_argument("--threads", type=int, required=True, help="CPU threads of the engine")
    parser.add_argument("--model", type=Path, default=Path(), help="CosyVoice3's prepared folder")
    parser.add_argument("--quality", default="balanced", help="CosyVoice3's preset")
    arguments = parser.parse_args(argv)
    options = EngineOptions(arguments.state, arguments.threads, arguments.model, arguments.quality)
    os.nice(NICENESS)
    _be_first_to_go()
    try:
        return Worker(parent).serve(lambda: engines[arguments.engine](options))
    except ParentGone:
        return EXIT_LEFT


def run(engines: Mapping[str, EngineFactory] = ENGINES) -> None:
    """`main`, then out: an orderly interpreter exit would wait for, or trip over, the listening thread."""
    code = main(engines=engines)
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    run()
