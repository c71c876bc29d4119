"""`cosyvoiced voices add`: has a recording made into a voice, in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from cosyvoice.errors import VoiceError
from cosyvoice.voices import names
from daemon import config as options
from daemon import configfile, styles
from daemon.commands.voices import MARKS, store
from daemon.errors import CosyvoicedError
from daemon.synthesis.builtin.voices import VOICES
from daemon.synthesis.cosyvoice3 import facts

MODULE = "cosyvoice.voices.enroll"
LIBRARIES = ("soundfile", "safetensors", "torch")
DEADLINE_S = 900.0  # 1 GB from a slow memory card, and a minute of work on a small board

# What `voice` or `style` may be besides an enrolled voice: a name must never mean two things.
RESERVED = frozenset(
    {"auto", "default", "none", *VOICES}
    | {label.casefold() for preset in styles.PRESETS.values() for label in preset}
)


class Addition(NamedTuple):
    """A voice as the command line asks for it."""

    name: str
    recording: Path
    text: str
    language: str | None
    gender: str | None
    until_s: float | None
    force: bool
    replace: bool


def add(path: Path, addition: Addition) -> int:
    """Adds a voice, telling how it goes; the exit code. Raises `CosyvoicedError` or `CosyVoiceError`."""
    config = configfile.load(path, ready=False)
    if (sentence := facts.to_install(LIBRARIES)) is not None:
        raise CosyvoicedError(sentence)
    voices = store(config)
    name = names.checked(addition.name, RESERVED)
    if not addition.replace:
        voices.refuse_taken(name)
    print(f"Only add the voice of somebody who has agreed to it. Adding '{name}' ...", flush=True)
    state_dir = options.state_dir(config, dict(os.environ))
    request = {
        "name": name,
        "recording": str(addition.recording.absolute()),
        "text": addition.text,
        "model_dir": str(options.model_dir(config, state_dir)),
        "voices_dir": str(voices.folder),
        "language": addition.language,
        "gender": addition.gender,
        "until_s": addition.until_s,
        "force": addition.force,
    }
    _enroll(request, DEADLINE_S)
    print(f"Added '{name}': {voices.path(name)}. Hear it: cosyvoiced voices test {name}")
    return 0


def _enroll(request: dict[str, Any], deadline_s: float) -> None:
    """Runs the enrolment's process. Raises `CosyvoicedError` or `VoiceError`."""
    with tempfile.TemporaryFile("w+") as asked, tempfile.TemporaryFile("w+", errors="replace") as complaints:
        json.dump(request, asked)
        asked.seek(0)
        with subprocess.Popen(
            [sys.executable, "-m", MODULE], stdin=asked, stdout=subprocess.PIPE, stderr=complaints, text=True
        ) as child:
            is_late = threading.Event()
            timer = threading.Timer(deadline_s, _end, (child, is_late))
            timer.start()
            try:
                last = _tell(child.stdout or ())
            finally:
                timer.cancel()
                child.kill()
        if "problems" in last:
            raise VoiceError(last["problems"])
        if "voice" not in last:
            complaints.seek(0)
            raise CosyvoicedError(_why(child.returncode, is_late.is_set(), complaints.read(), deadline_s))


def _end(child: subprocess.Popen[str], is_late: threading.Event) -> None:
    is_late.set()
    child.kill()


def _tell(lines: Iterable[str]) -> dict[str, Any]:
    """Shows what the process says as it comes; its last word."""
    last: dict[str, Any] = {}
    for line in lines:
        last = json.loads(line)
        if "progress" in last:
            print(last["progress"], flush=True)
        elif finding := last.get("finding"):
            print(f"{MARKS[finding['level']]} {finding['check']:11} {finding['what']}", flush=True)
            if finding["do"]:
                print(f"     {'':11} -> {finding['do']}", flush=True)
    return last


def _why(code: int, is_late: bool, complaints: str, deadline_s: float) -> str:
    """Why the process ended without a word."""
    if is_late:
        return f"adding the voice took more than {deadline_s:.0f} s, and was given up"
    if code == -signal.SIGKILL:
        return "adding the voice was killed, most likely for want of memory: stop other programs, or add swap"
    last_line = complaints.strip().rpartition("\n")[2]
    return f"adding the voice broke off ({code}): {last_line or 'no reason was given'}"
