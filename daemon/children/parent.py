"""The child's end of the frames: stdin and stdout taken for them alone, so that nothing else gets in."""

import os
import sys
import threading
from typing import BinaryIO, Generic, TypeVar

from daemon.children.frames import Codec, Frame

M = TypeVar("M")


class ParentGone(Exception):
    """The daemon no longer takes messages: nothing is left to do but to leave."""


class Parent(Generic[M]):
    """The daemon, as its child process sees it: messages come from it, and any thread may send to it."""

    def __init__(self, codec: Codec[M], incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._codec = codec
        self._incoming = incoming
        self._outgoing = outgoing
        self._sending = threading.Lock()

    def receive(self) -> M | None:
        """Waits for the next message; None when the daemon is gone. Raises `FrameError`."""
        return self._codec.read_blocking(self._incoming)

    def send(self, message: Frame) -> None:
        """Sends one message. Raises `FrameError`, or `ParentGone`."""
        data = self._codec.encode(message)
        try:
            with self._sending:
                self._outgoing.write(data)
                self._outgoing.flush()
        except BrokenPipeError as error:
            raise ParentGone("the daemon's end of the pipe is closed") from error


def claim_stdio(codec: Codec[M]) -> Parent[M]:
    """Takes stdin and stdout for frames: from now on, stdin reads as empty and prints go to stderr.

    File descriptors are moved, not just `sys.stdout`: C libraries print too. To be called first of all.
    """
    parent = Parent(codec, os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    sys.stdout = os.fdopen(1, "w", buffering=1, errors="replace", closefd=False)
    return parent
