"""`cosyvoiced voices`: what can be chosen as `voice`."""

import json
from pathlib import Path

import msgspec

from daemon import configfile
from daemon.synthesis import engines


def list_voices(path: Path, as_json: bool) -> int:
    """Prints the voices of the configured engine. Raises `CosyvoicedError`."""
    voices = list(engines.choose(configfile.load(path).engine).voices.values())
    if as_json:
        print(json.dumps(msgspec.to_builtins(voices), ensure_ascii=False, indent=2))
        return 0
    for voice in voices:
        gender = {"f": "female", "m": "male"}.get(voice.gender, voice.gender)
        print(f"{voice.name:12} {', '.join(voice.languages):8} {gender:7} {voice.description}")
    return 0
