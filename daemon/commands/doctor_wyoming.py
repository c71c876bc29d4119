"""The part of `cosyvoiced doctor` that looks at the Wyoming server, where it is enabled."""

import asyncio
from collections.abc import Iterator

from daemon.commands.finding import Finding
from daemon.config import Config
from daemon.mqtt.embedded import is_loopback, is_taken
from daemon.wyoming import facts

DEADLINE_S = 3.0


def examine(config: Config) -> Iterator[Finding]:
    options = config.wyoming
    if not options.enabled:
        return
    if (absent := facts.to_install(options)) is not None:
        yield Finding(part="wyoming", level="problem", what=absent.partition(":")[0], do=facts.INSTALL)
        return
    yield asyncio.run(_server(options.host, options.port))
    if options.zeroconf and is_loopback(options.host):
        yield Finding(
            part="wyoming",
            level="note",
            what=f"zeroconf tells of a server that only this machine reaches, at {options.host}",
            do="set wyoming.host to 0.0.0.0, or wyoming.zeroconf to false",
        )


async def _server(host: str, port: int) -> Finding:
    address = f"{host}:{port}"
    if not await is_taken(host, port):
        return Finding(part="wyoming", level="ok", what=f"none runs at {address}; `run` starts it")
    names = await _programs(host, port)
    if names:
        return Finding(part="wyoming", level="ok", what=f"{', '.join(names)} answers at {address}")
    return Finding(
        part="wyoming",
        level="problem",
        what=f"{address} is taken by something that does not speak",
        do="choose another wyoming.port",
    )


async def _programs(host: str, port: int) -> list[str]:
    """The names of the text-to-speech programs that answer there."""
    from wyoming.client import AsyncTcpClient
    from wyoming.info import Describe, Info

    try:
        async with asyncio.timeout(DEADLINE_S), AsyncTcpClient(host, port) as client:
            await client.write_event(Describe().event())
            event = await client.read_event()
    except (OSError, asyncio.IncompleteReadError):
        return []
    if event is None or not Info.is_type(event.type):
        return []
    return [program.name for program in Info.from_event(event).tts]
