"""The speech tokenizer: what a prompt says and how, as 25 tokens a second.

Its 970 MB are needed for a few seconds when a voice is added, and never again: so it is loaded in the
enrolment's own process, which then ends.
"""

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cosyvoice.config import SPEECH_CODEBOOK
from cosyvoice.errors import ModelError
from cosyvoice.voices import network

FILE = "speech_tokenizer_v3.onnx"
LOG_MEL_BINS = 128

_MAX_THREADS = 4
# Peak of a process that loads a network of 1.35 GiB and runs it on 10 s: 1.41 GiB, 45 MiB before the load.
_MEMORY_PER_BYTE = 1.1
_MEMORY_BESIDE_BYTES = 150 * 2**20


def tokenize(model_dir: Path, log_mel: npt.NDArray[np.float32]) -> npt.NDArray[np.int32]:
    """The speech tokens (N,) int32, 0 to 6560, of `log_mel` (128, T) with 100 frames/s, at most 30 s of it.

    Raises:
        ModelError: the tokenizer is missing, does not fit into memory, or is another network.
    """
    path = model_dir / FILE
    network.require(path)
    _refuse_without_memory(path)
    session = network.load(path, threads=min(os.cpu_count() or 1, _MAX_THREADS))
    length = np.array([log_mel.shape[1]], dtype=np.int32)
    tokens = np.asarray(network.run(session, FILE, [log_mel[None].astype(np.float32), length])[0])  # (1, N)
    if tokens.ndim != 2 or len(tokens) != 1 or not np.issubdtype(tokens.dtype, np.integer):
        raise ModelError([f"{FILE} gave {tokens.dtype} of the shape {tokens.shape} instead of tokens (1, N)"])
    if not tokens.size or tokens.min() < 0 or tokens.max() >= SPEECH_CODEBOOK:
        raise ModelError([f"{FILE} gave tokens outside of 0 to {SPEECH_CODEBOOK - 1}: it is another network"])
    return np.asarray(tokens[0], dtype=np.int32)


def free_memory_bytes(meminfo: Path = Path("/proc/meminfo")) -> int | None:
    """What can be had without ending a program, swap included; None where the system does not tell."""
    try:
        lines = (line.split() for line in meminfo.read_text().splitlines())
        kib = {words[0].rstrip(":"): int(words[1]) for words in lines}
        return 1024 * (kib["MemAvailable"] + kib["SwapFree"])
    except (OSError, KeyError, ValueError, IndexError):
        return None


def _refuse_without_memory(path: Path) -> None:
    free = free_memory_bytes()
    needed = path.stat().st_size * _MEMORY_PER_BYTE + _MEMORY_BESIDE_BYTES
    if free is not None and free < needed:
        raise ModelError(
            [
                f"the speech tokenizer needs {needed / 2**20:.0f} MiB of memory, {free / 2**20:.0f} are free:"
                " stop other programs, the daemon too, or add swap, for as long as this takes"
            ]
        )
