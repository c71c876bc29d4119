"""A voice of one's own for the system tests: what a built-in one says, with tiny random weights."""

import subprocess
import sys

from tests.system.device import Device

RECORDED = "今天天气真好，我们一起出去走走，顺便买点水果吧。"


def cosyvoiced(device: Device, *arguments: str) -> None:
    command = [sys.executable, "-m", "daemon.cli", *arguments, "--config", str(device.config_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def enrol(device: Device, name: str) -> None:
    """Makes a voice of what a built-in one says: a clip of some six seconds, and its words."""
    request = {"text": RECORDED, "voice": "zf_xiaoyi", "output": "file"}
    clip = device.final(device.say(request), 90)
    # Random weights cannot tell one speaker from two.
    cosyvoiced(device, "voices", "add", name, clip["wav_path"], "--text", RECORDED, "--force")
