"""One child process: started with a deadline, spoken to in frames, and killed without regret.

The child's stdin and stdout carry frames only; its stderr goes to the daemon's log. When the daemon
dies, for whatever reason, the child's stdin ends, and the child goes too.
"""

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import Sequence
from typing import Generic, TypeVar

import psutil

from daemon.children.frames import Codec, Frame, FrameError, Ready
from daemon.errors import CosyvoicedError

log = logging.getLogger(__name__)

M = TypeVar("M")

STREAM_LIMIT_BYTES = 2**20


class ChildError(CosyvoicedError):
    """The child did not start, broke the protocol, or went away."""


class ChildTimeout(ChildError):
    """The child did not answer within its deadline."""


class Child(Generic[M]):
    """A child process running `python -m MODULE ARGUMENTS...`."""

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
        self._process: asyncio.subprocess.Process | None = None
        self._stderr_task: asyncio.Task[None] | None = None

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

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
        """Starts the process and waits for its `Ready`. Raises `ChildError`; then nothing is left running."""
        self._process = await asyncio.create_subprocess_exec(
            *self._argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=STREAM_LIMIT_BYTES,
            env={**os.environ, **self._env} if self._env else None,
        )
        self._stderr_task = asyncio.create_task(self._log_stderr(self._process))
        try:
            ready = await self.receive(deadline_s)
            if not isinstance(ready, Ready):
                raise ChildError(f"the {self.name} process sent {type(ready).__name__} before it was ready")
        except BaseException:
            await self.kill()
            raise
        return ready

    async def send(self, message: Frame, deadline_s: float = 10.0) -> None:
        """Sends one message. Raises `ChildError`."""
        if self._process is None or self._process.stdin is None or not self.alive:
            raise ChildError(f"the {self.name} process is not running")
        try:
            self._process.stdin.write(self._codec.encode(message))
            async with asyncio.timeout(deadline_s):
                await self._process.stdin.drain()
        except TimeoutError as error:
            raise ChildTimeout(f"the {self.name} process took nothing for {deadline_s:g} s") from error
        except (ConnectionError, FrameError) as error:
            raise ChildError(f"the {self.name} process went away: {error}") from error

    async def receive(self, deadline_s: float | None) -> M:
        """The next message. Raises `ChildError`, or `ChildTimeout` when none came in time."""
        if self._process is None or self._process.stdout is None:
            raise ChildError(f"the {self.name} process is not running")
        try:
            async with asyncio.timeout(deadline_s):
                message = await self._codec.read(self._process.stdout)
        except TimeoutError as error:
            raise ChildTimeout(f"the {self.name} process did not answer within {deadline_s:g} s") from error
        except (ConnectionError, FrameError) as error:
            raise ChildError(f"the {self.name} process broke the protocol: {error}") from error
        if message is None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._process.wait()
            raise ChildError(f"the {self.name} process ended ({_exit_reason(self._process.returncode)})")
        return message

    async def kill(self) -> None:
        """Ends the process now and reaps it."""
        await self.stop(grace_s=0.0)

    async def stop(self, grace_s: float = 2.0) -> None:
        """Closes the child's stdin, waits up to `grace_s` for it to leave, then kills and reaps it."""
        process = self._process
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        if process.returncode is None and grace_s > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(grace_s):
                    await process.wait()
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        await process.wait()
        if self._stderr_task is not None:
            self._stderr_task.cancel()
            await asyncio.gather(self._stderr_task, return_exceptions=True)
        self._process = self._stderr_task = None

    async def _log_stderr(self, process: asyncio.subprocess.Process) -> None:
        while process.stderr is not None:
            try:
                line = await process.stderr.readline()
            except ValueError:  # a line over the stream's limit: its rest comes as the next line
                continue
            if not line:
                return
            log.info("%s: %s", self.name, line.decode(errors="replace").rstrip()[:2000])


def _exit_reason(returncode: int | None) -> str:
    if returncode is None:
        return "still ending"
    return f"killed by signal {-returncode}" if returncode < 0 else f"exit code {returncode}"
