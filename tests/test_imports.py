"""The daemon process stays small: what is heavy is imported in its child processes only."""

import json
import pkgutil
import subprocess
import sys

import pytest

import daemon

HEAVY = (
    *("amqtt", "hibari", "numpy", "onnxruntime", "safetensors"),
    *(
        "sounddevice",
        "soundfile",
        "soxr",
        "starlette",
        "tokenizers",
        "torch",
        "uvicorn",
        "wyoming",
        "zeroconf",
    ),
)

CHILD_SIDE = {
    "daemon.audio.output",
    "daemon.audio.performance",
    "daemon.audio.player",
    "daemon.audio.track",
    "daemon.mqtt.broker",
    "daemon.mqtt.greeting",
    "daemon.synthesis.cosyvoice3.engine",
    "daemon.synthesis.worker",
    "daemon.web.encode",
}
OPTIONAL = {  # imported where the option is on
    *("daemon.wyoming.connection", "daemon.wyoming.discovery", "daemon.wyoming.events"),
    *("daemon.wyoming.info", "daemon.wyoming.messages", "daemon.wyoming.script", "daemon.wyoming.server"),
    *("daemon.web.access", "daemon.web.announcements", "daemon.web.files", "daemon.web.gateway"),
    *(
        "daemon.web.openapi",
        "daemon.web.protocol",
        "daemon.web.refusals",
        "daemon.web.requests",
        "daemon.web.server",
    ),
    *("daemon.web.sound", "daemon.web.speech", "daemon.web.stream", "daemon.web.turnstile"),
    "daemon.web.voices",
}
ENGINE = "daemon.synthesis.builtin."
FACTS = {ENGINE + name for name in ("graph_recipe", "model", "styles", "version", "voices")}  # all light

PROBE = """
import importlib, json, sys
first_importers = {}
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
    for module in tuple(sys.modules):
        first_importers.setdefault(module, name)
print(json.dumps(first_importers))
"""


def all_modules() -> set[str]:
    return {module.name for module in pkgutil.walk_packages(daemon.__path__, "daemon.")}


def is_child_side(name: str) -> bool:
    return name in CHILD_SIDE or (name.startswith(ENGINE) and name not in FACTS)


@pytest.fixture(scope="module")
def first_importers() -> dict[str, str]:
    """What is loaded once all of the daemon's own modules are, and which of them loaded it first."""
    always = (name for name in all_modules() - OPTIONAL if not is_child_side(name))
    names = json.dumps(sorted(always))
    probe = subprocess.run(
        [sys.executable, "-c", PROBE, names], capture_output=True, text=True, timeout=50, check=False
    )
    assert probe.returncode == 0, probe.stderr
    loaded: dict[str, str] = json.loads(probe.stdout)
    return loaded


def test_the_daemon_imports_nothing_heavy(first_importers: dict[str, str]) -> None:
    assert {module: first_importers[module] for module in HEAVY if module in first_importers} == {}


def test_the_daemon_imports_no_module_of_its_child_processes(first_importers: dict[str, str]) -> None:
    assert {module: by for module, by in first_importers.items() if is_child_side(module)} == {}


def test_the_daemon_imports_no_module_of_an_option_that_is_off(first_importers: dict[str, str]) -> None:
    assert {module: by for module, by in first_importers.items() if module in OPTIONAL} == {}


def test_the_modules_named_here_exist() -> None:
    assert all_modules() >= CHILD_SIDE | FACTS | OPTIONAL
