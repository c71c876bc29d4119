"""The part of `cosyvoiced doctor` that looks at the page and the gateway, where they are enabled."""

import asyncio
import contextlib
from collections.abc import Iterator

from daemon.commands.finding import Finding
from daemon.config import Config
from daemon.mqtt.embedded import is_taken
from daemon.web import facts

DEADLINE_S = 3.0
MAX_ANSWER_BYTES = 65536
_ASK = b"GET /cosyvoice/preset HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
_SIGNS = (b"Sichuan", b'"unauthorized"')  # in the answer of one that needs no token, and of one that does


def examine(config: Config) -> Iterator[Finding]:
    options = config.web
    if not options.enabled:
        return
    if (absent := facts.to_install()) is not None:
        yield Finding(part="web", level="problem", what=absent.partition(":")[0], do=facts.INSTALL)
        return
    yield asyncio.run(_server(options.host, options.port))


async def _server(host: str, port: int) -> Finding:
    address = f"{host}:{port}"
    if not await is_taken(host, port):
        return Finding(part="web", level="ok", what=f"none runs at {address}; `run` starts it")
    if await _is_ours(host, port):
        return Finding(part="web", level="ok", what=f"the page is at http://{address}/")
    return Finding(
        part="web",
        level="problem",
        what=f"{address} is taken by something else",
        do="choose another web.port",
    )


async def _is_ours(host: str, port: int) -> bool:
    answer = b""
    with contextlib.suppress(OSError):
        async with asyncio.timeout(DEADLINE_S):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(_ASK)
                while (more := await reader.read(4096)) and len(answer) < MAX_ANSWER_BYTES:
                    answer += more
            finally:
                writer.close()
    return any(sign in answer for sign in _SIGNS)
