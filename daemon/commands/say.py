"""`cosyvoiced say`: through a running daemon, or without one."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import msgspec

from daemon import configfile, logs
from daemon.commands.run import once, shown
from daemon.mqtt.caller import Caller, is_success
from daemon.mqtt.configured import link_settings, topics


def say(path: Path, fields: dict[str, Any], local: bool, deadline_s: float) -> int:
    """Says one thing and prints its result as JSON; the exit code. Raises `CosyvoicedError`."""
    config = configfile.load(path)
    if local:
        logs.setup("warning")
        free_port = msgspec.structs.replace(config.mqtt, broker="embedded", host="127.0.0.1", port=0)
        result = asyncio.run(once(msgspec.structs.replace(config, mqtt=free_port), fields))
    else:
        with Caller(link_settings(config, config.mqtt.host, config.mqtt.port), topics(config)) as caller:
            result = caller.say(fields, deadline_s)
    print(shown(result))
    if is_success(result):
        return 0
    print(f"cosyvoiced: {result.code or result.event}: {result.message}", file=sys.stderr)
    return 1
