"""A module run once, in a process of its own: it is asked over stdin, and answers over stdout."""

import asyncio
import sys
from typing import NamedTuple


class Answer(NamedTuple):
    """What a process has left behind."""

    code: int
    said: bytes
    complaints: bytes


async def ask(module: str, *arguments: str, asked: bytes, deadline_s: float) -> Answer:
    """Runs `python -m MODULE ARGUMENTS...` to its end; whatever happens, none is left running.

    Raises:
        TimeoutError: it took longer than `deadline_s`.
    """
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, *arguments), stdin=pipe, stdout=pipe, stderr=pipe
    )
    try:
        async with asyncio.timeout(deadline_s):
            said, complaints = await child.communicate(asked)
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    return Answer(child.returncode or 0, said, complaints)
