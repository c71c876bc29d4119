"""`cosyvoiced run`: the daemon in the foreground."""

import asyncio
import json
import logging
import os
import signal
from pathlib import Path
from typing import Any

import msgspec

from daemon import config as options
from daemon import configfile, logs
from daemon.app import App
from daemon.config import Config
from daemon.configfile import ConfigError
from daemon.errors import CosyvoicedError
from daemon.instance import AlreadyRunningError
from daemon.jobs.fallback import FallbackJournal
from daemon.mqtt.caller import Caller, CallError, is_success
from daemon.mqtt.configured import link_settings, topics
from daemon.mqtt.messages import Result
from daemon.sd_notify import Notifier

log = logging.getLogger(__name__)

GREETING = "你好，语音播报已经就绪。Hello, I am ready to speak."
ONCE_DEADLINE_S = 300.0  # the first start joins the model


def run(path: Path, once: str | None, greet: bool) -> int:
    """Runs the daemon until it is told to stop; the exit code. Raises `CosyvoicedError`."""
    config = configfile.load(path)
    logs.setup("warning" if once is not None and config.log_level == "info" else config.log_level)
    if once is not None:
        return _say_once(config, once)
    notifier = Notifier.from_environment(os.environ)
    journals: dict[Path, FallbackJournal] = {}  # on a full disk, a reload must not forget what is in memory
    while True:
        journal_path = options.journal_path(options.state_dir(config, dict(os.environ)))
        journal = journals.setdefault(journal_path, FallbackJournal(journal_path))
        again = asyncio.run(_run(App(config, path, notifier, journal), config, greet))
        if not again:
            return 0
        greet = False
        config = configfile.load(path)
        logs.setup(config.log_level)


async def _run(app: App, config: Config, greet: bool) -> bool:
    """One life of the daemon; whether it is to start again with the configuration read anew."""
    _stop_on_signals(app)
    greetings: dict[asyncio.Task[None], Caller] = {}

    def online() -> None:
        if greet:
            caller = _caller(config, app.address)
            greetings[asyncio.create_task(asyncio.to_thread(_greet, config, caller, app.address))] = caller

    try:
        return await app.run(online) == "reload"
    finally:
        for caller in greetings.values():
            caller.hang_up()


def _stop_on_signals(app: App) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, app.end, "stop")
    loop.add_signal_handler(signal.SIGHUP, _reload, app)


def _reload(app: App) -> None:
    try:
        app.reload()
    except ConfigError as error:
        log.warning("the old configuration stays in force: %s", error)


def _greet(config: Config, caller: Caller, address: tuple[str, int]) -> None:
    """Announces the daemon the way a user would, and shows the way to the next announcement."""
    try:
        result = _say(caller, {"text": GREETING})
    except CosyvoicedError as error:
        log.warning("the greeting failed: %s", error)
        return
    print(shown(result))
    topic = f"{topics(config).own}/say"
    print("\nSay something else (or: .venv/bin/cosyvoiced say '...'):")
    print(
        f"  mosquitto_pub -h {address[0]} -p {address[1]} -q 1 -t '{topic}' -m '洗衣机已经洗好了'", flush=True
    )


def _say_once(config: Config, text: str) -> int:
    """Says one thing by the whole real path: by a daemon of its own, or by the one that runs already."""
    try:
        result = asyncio.run(once(config, {"text": text}))
    except AlreadyRunningError:
        result = _say(_caller(config, (config.mqtt.host, config.mqtt.port)), {"text": text})
    print(shown(result))
    return 0 if is_success(result) else _complain(result)


async def once(config: Config, fields: dict[str, Any]) -> Result:
    """Starts a daemon, says one thing through it, and stops it. Raises `CosyvoicedError`."""
    app = App(config)
    _stop_on_signals(app)
    ready = asyncio.Event()
    life = asyncio.create_task(app.run(ready.set))
    try:
        waiting = asyncio.create_task(ready.wait())
        await asyncio.wait({life, waiting}, timeout=ONCE_DEADLINE_S, return_when=asyncio.FIRST_COMPLETED)
        if life.done():
            await life
            raise CosyvoicedError("stopped before anything was said")
        if not ready.is_set():
            raise CosyvoicedError("no MQTT broker took the connection in time")
        caller = _caller(config, app.address)
        life.add_done_callback(lambda _: caller.hang_up())
        return await asyncio.to_thread(_say, caller, fields)
    except CallError:
        if life.done():
            await life  # tells why it ended
        raise
    finally:
        app.end()
        await asyncio.wait({life})


def _caller(config: Config, address: tuple[str, int]) -> Caller:
    return Caller(link_settings(config, *address), topics(config))


def _say(caller: Caller, fields: dict[str, Any]) -> Result:
    with caller:
        return caller.say(fields, ONCE_DEADLINE_S)


def _complain(result: Result) -> int:
    logging.getLogger("cosyvoiced").error("%s: %s", result.code or result.event, result.message)
    return 1


def shown(result: Result) -> str:
    """A result as JSON for people: without what does not apply, Chinese left readable."""
    fields = {name: value for name, value in msgspec.to_builtins(result).items() if value not in (None, ())}
    return json.dumps(fields, ensure_ascii=False, indent=2)
