"""One child process: started with a deadline, spoken to in frames, and killed without regret.

The child's stdin and stdout carry frames only; its stderr goes to the daemon's log. When the daemon
dies, for whatever reason, the child's stdin ends, and the child goes too.
"""

import asyncio
import contextlib
import logging
import os
import subprocess
import sys
from asyncio.subprocess import SubprocessStreamProtocol
from collections.abc import Sequence
from typing import Generic, TypeVar

import psutil

from daemon.children.frames import Codec, Frame, FrameError, NotReady, Ready
from daemon.errors import CosyvoicedError

log = logging.getLogger(__name__)

M = TypeVar("M")

STREAM_LIMIT_BYTES = 2**20
LAST_WORDS_S = 1.0  # for a dead process's exit code and the end of its stderr to arrive
STDERR_LINE_CHARACTERS = 2000  # as much as a log reader wants of one line
REAP_S = 5.0  # a killed process still here is stuck in the kernel, on a dead disk for example


class ChildError(CosyvoicedError):
    """The child did not start, broke the protocol, or went away."""


class ChildTimeout(ChildError):
    """The child did not answer within its deadline."""


class ChildStopped(ChildError):
    """We have ended the child ourselves."""


class ChildRefused(ChildError):
    """The child said, instead of `Ready`, why it cannot serve; the message is for the user."""


class _Pipes(SubprocessStreamProtocol):
    """asyncio's streams to a process, which also tell when it has exited.

    `asyncio.subprocess.Process.wait` would not do: on Python 3.11 it waits for the end of the pipes too, and
    so for a grandchild that holds one open, or for ever when output is left that nobody reads.
    """

    def __init__(self) -> None:
        super().__init__(limit=STREAM_LIMIT_BYTES, loop=asyncio.get_running_loop())
        self._exited = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self._exited.set()

    async def exits(self, within_s: float) -> bool:
        """Whether the process is gone; waits up to `within_s` for it."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._exited.wait()
        return self._exited.is_set()


class Child(Generic[M]):
    """A child process running `python -m MODULE ARGUMENTS...`; it can be started again after `stop`."""

    def __init__(
        self,
        name: str,
        module: str,
        arguments: Sequence[str],
        codec: Codec[M],
        env: dict[str, str] | None = None,
    ) -> None:
        self.name = name
        self._argv = (sys.executable, "-m", module, *arguments)
        self._codec = codec
        self._env = env
        self._transport: asyncio.SubprocessTransport | None = None
        self._pipes: _Pipes | None = None
        self._stderr_task: asyncio.Task[None] | None = None
        self._read_task: asyncio.Task[M | None] | None = None

    @property
    def alive(self) -> bool:
        return self._transport is not None and self._transport.get_returncode() is None

    @property
    def pid(self) -> int | None:
        return self._transport.get_pid() if self._transport is not None else None

    @property
    def rss_bytes(self) -> int:
        """Resident memory of the child now; 0 when it is not running."""
        if not self.alive or self.pid is None:
            return 0
        try:
            return int(psutil.Process(self.pid).memory_info().rss)
        except psutil.Error:
            return 0

    async def start(self, deadline_s: float) -> Ready:
        """Starts the process and waits for its `Ready`; when it raises, nothing is left running.

        Raises:
            ChildRefused: the child said why it cannot serve.
            ChildTimeout: it was not ready in time.
            ChildError: it could not be started, ended, or broke the protocol.
        """
        loop = asyncio.get_running_loop()
        try:
            self._transport, self._pipes = await loop.subprocess_exec(
                _Pipes,
                *self._argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, **self._env} if self._env else None,
                process_group=0,  # Ctrl-C in a terminal is for the daemon, which then stops its children
            )
        except OSError as error:
            raise ChildError(f"the {self.name} process could not be started: {error}") from error
        self._stderr_task = asyncio.create_task(self._log_stderr(self._pipes))
        try:
            first = await self.receive(deadline_s)
            if isinstance(first, NotReady):
                raise ChildRefused(first.message)
            if not isinstance(first, Ready):
                raise ChildError(f"the {self.name} process sent {type(first).__name__} before it was ready")
        except BaseException:
            await self.kill()
            raise
        return first

    async def send(self, message: Frame, deadline_s: float = 10.0) -> None:
        """Sends one message. Raises `ChildError`."""
        stdin = self._pipes.stdin if self._pipes is not None else None
        if stdin is None or not self.alive:
            raise ChildError(f"the {self.name} process is not running")
        try:
            stdin.write(self._codec.encode(message))
            async with asyncio.timeout(deadline_s):
                await stdin.drain()
        except TimeoutError as error:
            raise ChildTimeout(f"the {self.name} process took nothing for {deadline_s:g} s") from error
        except (ConnectionError, FrameError) as error:
            raise ChildError(f"the {self.name} process went away: {error}") from error

    async def receive(self, deadline_s: float | None) -> M:
        """The next message; one caller at a time. After a time-out the next call loses nothing.

        Raises:
            ChildTimeout: no message came within `deadline_s` (None: no limit).
            ChildError: the child ended or broke the protocol.
        """
        pipes, transport = self._pipes, self._transport
        if transport is None or pipes is None or pipes.stdout is None:
            raise ChildError(f"the {self.name} process is not running")
        # A task of its own, since a time-out must not stop the reading inside a frame.
        reading = self._read_task or asyncio.create_task(self._codec.read(pipes.stdout))
        self._read_task = reading
        await asyncio.wait({reading}, timeout=deadline_s)
        if not reading.done():
            raise ChildTimeout(f"the {self.name} process did not answer within {deadline_s:g} s")
        if self._read_task is reading:
            self._read_task = None
        if reading.cancelled():
            raise ChildError(f"the {self.name} process was stopped")
        try:
            message = reading.result()
        except (ConnectionError, FrameError) as error:
            raise ChildError(f"the {self.name} process broke the protocol: {error}") from error
        if message is None:
            await pipes.exits(LAST_WORDS_S)
            raise ChildError(f"the {self.name} process ended ({_exit_reason(transport.get_returncode())})")
        return message

    async def kill(self) -> None:
        """Ends the process now and reaps it."""
        await self.stop(grace_s=0.0)

    async def stop(self, grace_s: float = 2.0) -> None:
        """Closes the child's stdin, waits up to `grace_s` for it to leave, then kills and reaps it."""
        pipes, transport = self._pipes, self._transport
        if pipes is None or transport is None:
            return
        if pipes.stdin is not None:
            pipes.stdin.close()
        if not await pipes.exits(grace_s):
            with contextlib.suppress(ProcessLookupError):
                transport.kill()
        tasks = [task for task in (self._stderr_task, self._read_task) if task is not None]
        await asyncio.wait(tasks, timeout=LAST_WORDS_S)  # the end of the process ends them, all words logged
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if not await pipes.exits(REAP_S):
            log.error("the %s process %d does not end although it was killed", self.name, transport.get_pid())
        transport.close()  # pipes that a grandchild holds open, or that nobody read to their end
        if self._transport is transport:
            self._transport = self._pipes = self._stderr_task = self._read_task = None

    async def _log_stderr(self, pipes: _Pipes) -> None:
        while pipes.stderr is not None:
            try:
                line = await pipes.stderr.readline()
            except ValueError:  # a line over the stream's limit: its rest comes as the next line
                continue
            if not line:
                return
            text = line.decode(errors="replace").rstrip()[:STDERR_LINE_CHARACTERS]
            level = logging.WARNING if text.startswith(("WARNING", "ERROR")) else logging.INFO
            log.log(level, "%s: %s", self.name, text)


def _exit_reason(returncode: int | None) -> str:
    if returncode is None:
        return "still ending"
    return f"killed by signal {-returncode}" if returncode < 0 else f"exit code {returncode}"
