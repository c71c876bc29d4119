"""How long work on the command line tells how far it is."""

from types import TracebackType
from typing import Protocol, Self

_WIDTH = 30


class TerminalOrPipe(Protocol):
    """What a bar needs of `sys.stdout`."""

    def isatty(self) -> bool: ...

    def write(self, text: str, /) -> int: ...

    def flush(self) -> None: ...


class ProgressBar:
    """A bar on a terminal; elsewhere a line for each step that is done."""

    def __init__(self, stream: TerminalOrPipe) -> None:
        self._stream = stream
        self._last = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream.isatty() and self._last:
            self._stream.write("\n")

    def show(self, step: str, done: int, total: int) -> None:
        """`done` of `total` when this much of a step is done; steps come one after another."""
        share = done / total if total else 1.0
        if self._stream.isatty():
            bar = "#" * round(_WIDTH * share)
            self._stream.write(f"\r[{bar:{_WIDTH}}] {share:4.0%} {step:30}")
            self._stream.flush()
        elif step != self._last:
            self._stream.write(f"{share:4.0%} {step}\n")
            self._stream.flush()
        self._last = step
