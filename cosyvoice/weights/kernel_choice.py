"""The kernels that were fastest here, recorded in the model folder. Light: the daemon reads it too.

They are kept apart from the manifest because they belong to the machine and not to the model: a folder may
be prepared on a PC and copied to a board.
"""

import os
import platform
from pathlib import Path

import msgspec

from cosyvoice.errors import ModelError

FILE = "kernels.json"
TUNE = "run `cosyvoiced model tune`"

_CPUINFO = Path("/proc/cpuinfo")
_NAMES = ("model name", "hardware")  # x86-64 and most desktops; some ARM kernels
_PARTS = "cpu part"  # ARM: one line a core, big and little cores differ


class KernelChoice(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured, where, and with how many threads."""

    machine: str
    threads: int
    kernels: dict[str, dict[str, str]]  # network -> "outputs x columns" of a weight -> kernel

    def kernel(self, network: str, outputs: int, columns: int) -> str:
        """The kernel for a weight (outputs, columns) of `llm` or `flow`. Raises `KeyError`."""
        return self.kernels[network][shape_key(outputs, columns)]


def shape_key(outputs: int, columns: int) -> str:
    return f"{outputs}x{columns}"


def read(folder: Path) -> KernelChoice | None:
    """None when nothing was measured yet. Raises `ModelError`."""
    try:
        return msgspec.json.decode((folder / FILE).read_bytes(), type=KernelChoice)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ModelError([f"{folder / FILE} cannot be read: {error.strerror}"]) from error
    except msgspec.DecodeError as error:
        raise ModelError([f"{folder / FILE} is damaged ({error}); {TUNE}"]) from error


def write(folder: Path, choice: KernelChoice) -> None:
    """Whole or not at all. Raises `OSError`."""
    text = msgspec.json.format(msgspec.json.encode(choice), indent=2) + b"\n"
    partial = folder / f".{FILE}.{os.getpid()}"
    try:
        partial.write_bytes(text)
        partial.replace(folder / FILE)
    finally:
        partial.unlink(missing_ok=True)


def is_stale(choice: KernelChoice, threads: int) -> bool:
    """Whether it was measured on another machine or with another number of threads."""
    return (choice.machine, choice.threads) != (machine(), threads)


def machine(cpuinfo: Path = _CPUINFO) -> str:
    """The processor by name, as near as Linux tells it."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    split = (line.partition(":") for line in lines)
    pairs = [(key.strip().lower(), value.strip()) for key, _, value in split]
    name = next((value for wanted in _NAMES for key, value in pairs if key == wanted and value), "")
    parts = sorted({value for key, value in pairs if key == _PARTS})
    return " ".join([platform.machine(), *([name] if name else []), *parts])
