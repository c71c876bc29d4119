"""A scripted engine in a real worker process: `python -m tests.fakes.engine` takes the worker's arguments.

Each word of a text is spoken as a short sine, the same for the same word. A word that starts with `@` is an
order instead (see `FakeEngine._obey`); `@once:ORDER` is obeyed by the first worker only, so that a second
attempt gets through.
"""

import ctypes
import fcntl
import os
import signal
import stat
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from daemon.synthesis import worker
from daemon.synthesis.engine import EngineError, EngineOptions, Piece, SynthesisRequest, VoiceInfo

SAMPLE_RATE_HZ = 16000
PIECE_SAMPLES = 1600
ALLOCATED_BYTES = 200 * 2**20
LITTER_BYTES = 60_000  # under malloc's threshold for a mapping of its own
LONG_S = 600.0


def sine(word: str) -> bytes:
    """The sound of one word, as a worker sends it."""
    return worker.to_pcm(_samples(word))


def spoken(text: str) -> bytes:
    """The sound of a whole text, without its orders."""
    return b"".join(sine(word) for word in text.split() if not word.startswith("@"))


def _samples(word: str) -> npt.NDArray[np.float32]:
    frequency_hz = 200 + zlib.crc32(word.encode()) % 1000
    turns = np.arange(PIECE_SAMPLES) * frequency_hz / SAMPLE_RATE_HZ
    return (0.5 * np.sin(2 * np.pi * turns)).astype(np.float32)


class FakeEngine:
    """Does what the text says."""

    name = "fake"
    version = "1"
    sample_rate_hz = SAMPLE_RATE_HZ

    def __init__(self, options: EngineOptions) -> None:
        self._state_dir = options.state_dir
        self._threads = options.threads
        self._hoard: list[object] = []

    def load(self, progress: Callable[[str], None]) -> None:
        progress(f"loading the fake engine with {self._threads} threads")

    def voices(self) -> list[VoiceInfo]:
        return [VoiceInfo(name="fake", engine="fake", languages=("en",), gender="f")]

    def synthesize(
        self, request: SynthesisRequest, cancelled: Callable[[], bool], gentle: bool = False
    ) -> Iterator[Piece]:
        deaf = False
        for word in request.text.split():
            if cancelled() and not deaf:
                return
            if word == "@deaf":
                deaf = True
            elif word == "@degraded":
                yield Piece(np.zeros(0, np.float32), ("style",))
            elif word.startswith("@once:"):
                marker = self._state_dir / word.removeprefix("@once:")
                if not marker.exists():
                    marker.touch()
                    self._obey("@" + marker.name)
            elif word.startswith("@"):
                self._obey(word)
            else:
                yield Piece(_samples(word))

    def _obey(self, order: str) -> None:
        name, _, argument = order.removeprefix("@").partition("=")
        match name:
            case "exit":
                os._exit(7)
            case "segfault":
                ctypes.string_at(0)
            case "hang":  # the engine alone: pings are still answered
                time.sleep(LONG_S)
            case "freeze":  # the whole process
                os.kill(os.getpid(), signal.SIGSTOP)
            case "sleep":
                time.sleep(float(argument))
            case "spin":  # as pure Python code does, which shares the interpreter with the listening thread
                ends_at_s = time.monotonic() + float(argument)
                while time.monotonic() < ends_at_s:
                    pass
            case "print":
                print("printed by Python")
                os.write(1, b"written to file descriptor 1\n")
                subprocess.run([sys.executable, "-c", "print('printed by a child')"], check=True)
            case "read":
                sys.stdin.read()
            case "garbage":  # straight into the frames, as a broken library might
                os.write(_frames_pipe(), b"!" * 64)
            case "refuse":
                raise EngineError("there is nothing to say in this")
            case "bug":
                raise ValueError("a bug in the engine")
            case "allocate":
                self._hoard.append(bytearray(os.urandom(2**20) * (ALLOCATED_BYTES // 2**20)))
            case "litter":  # many small blocks, freed but for the last one, which pins the top of the heap
                blocks = [bytes(LITTER_BYTES) for _ in range(ALLOCATED_BYTES // LITTER_BYTES)]
                self._hoard.append(blocks[-1])
            case "orphan":  # a process of the engine's own that outlives it and keeps its stderr open
                subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({argument})"])
                os._exit(7)
            case _:
                raise ValueError(f"unknown order {order}")


def _frames_pipe() -> int:
    """The file descriptor that the worker keeps for its frames: the only pipe to write to above stderr."""
    for descriptor in range(3, 64):
        try:
            is_pipe = stat.S_ISFIFO(os.fstat(descriptor).st_mode)
        except OSError:  # not open
            continue
        if is_pipe and fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY:
            return descriptor
    raise ValueError("the worker has no pipe for frames")


class NeverReady(FakeEngine):
    def load(self, progress: Callable[[str], None]) -> None:
        progress("loading for ever")
        time.sleep(LONG_S)


class Missing(FakeEngine):
    def load(self, progress: Callable[[str], None]) -> None:
        raise EngineError("a model is missing: pip install the-model")


class Unloadable(FakeEngine):
    def load(self, progress: Callable[[str], None]) -> None:
        raise RuntimeError("the model is damaged")


ENGINES: Mapping[str, worker.EngineFactory] = {
    "fake": FakeEngine,
    "never-ready": NeverReady,
    "missing": Missing,
    "unloadable": Unloadable,
}

if __name__ == "__main__":
    worker.run(ENGINES)
