"""`cosyvoiced voices`: what can be chosen as `voice`, and what is known of an enrolled one."""

import json
import os
import sys
import unicodedata
from pathlib import Path
from typing import Any

import msgspec

from cosyvoice.errors import VoiceError
from cosyvoice.voices.index import VoiceHeader
from cosyvoice.voices.store import Listing, VoiceStore
from daemon import config as options
from daemon import configfile
from daemon.commands import say
from daemon.config import Config
from daemon.errors import CosyvoicedError
from daemon.storage.phrases import PhraseCache
from daemon.synthesis import cosyvoice3
from daemon.synthesis.builtin.voices import VOICES

SAY_DEADLINE_S = 300.0
GENDERS = {"f": "female", "m": "male", "": "-"}
SAMPLE_TEXTS = {"zh": "你好，这就是我的声音。", "ja": "こんにちは。これが私の声です。"}
SAMPLE_TEXT = "Hello, this is what my voice sounds like."
MARKS = {"ok": "ok  ", "note": "note", "problem": "BAD "}


def list_voices(path: Path, as_json: bool) -> int:
    """Prints all voices, and which of the enrolled ones cannot speak now. Raises `CosyvoicedError`."""
    config = configfile.load(path, ready=False)
    listing, hindrance = _listing(store(config)), _hindrance(config)
    if as_json:
        print(json.dumps(_as_json(listing, hindrance), ensure_ascii=False, indent=2))
        return 0
    for voice in VOICES.values():
        print(_line(voice.name, voice.languages, voice.gender, voice.description))
    for header in listing.voices:
        description = f"enrolled {header.created[:10]}" + (", cannot speak yet" if hindrance else "")
        print(_line(header.name, (header.language,), header.gender or "", description))
    if hindrance and listing.voices:
        print(f"cosyvoiced: enrolled voices cannot speak yet: {hindrance}", file=sys.stderr)
    for problem in listing.problems:
        print(f"cosyvoiced: {problem}", file=sys.stderr)
    return 0


def show(path: Path, name: str, as_json: bool) -> int:
    """Prints what is known of one voice. Raises `CosyvoicedError` or `VoiceError`."""
    config = configfile.load(path, ready=False)
    if name in VOICES:
        print(json.dumps(_fields(name), ensure_ascii=False, indent=2) if as_json else _about_builtin(name))
        return 0
    header = store(config).header(name)
    if as_json:
        print(json.dumps(msgspec.to_builtins(header), ensure_ascii=False, indent=2))
        return 0
    print("\n".join(_about(header)))
    if hindrance := _hindrance(config):
        print(f"It cannot speak yet: {hindrance}")
    return 0


def remove(path: Path, name: str) -> int:
    """Deletes an enrolled voice. Raises `CosyvoicedError` or `VoiceError`."""
    config = configfile.load(path, ready=False)
    if name in VOICES:
        raise CosyvoicedError(f"'{name}' is a built-in voice and cannot be removed")
    voices = store(config)
    if voices.path(name).stem != name:
        raise CosyvoicedError(f"nothing is removed: write the name as it is, '{voices.path(name).stem}'")
    voices.remove(name)
    print(f"Removed {voices.path(name)}.")
    cache = PhraseCache(options.phrases_dir(config, dict(os.environ)))
    try:
        print(f"Removed {cache.forget(voices.path(name).stem)} phrases of it from the cache.")
    except OSError as error:
        raise CosyvoicedError(f"{cache.folder} cannot be cleared of it: {error.strerror}") from error
    print(f"WAV files that it has spoken stay in {options.outputs_dir(config)} until they are pruned.")
    return 0


def test(path: Path, name: str, text: str | None) -> int:
    """Has a voice say something, without a running daemon. Raises `CosyvoicedError` or `VoiceError`."""
    config = configfile.load(path, ready=False)
    if name in VOICES:
        language = VOICES[name].languages[0]
    else:
        name, language = store(config).header(name).name, store(config).header(name).language
        if hindrance := _hindrance(config):
            raise CosyvoicedError(f"'{name}' cannot speak yet: {hindrance}")
    said = text if text is not None else SAMPLE_TEXTS.get(language, SAMPLE_TEXT)
    return say.say(path, {"text": said, "voice": name}, local=True, deadline_s=SAY_DEADLINE_S)


def store(config: Config) -> VoiceStore:
    """The enrolled voices of a configuration."""
    return VoiceStore(options.voices_dir(options.state_dir(config, dict(os.environ))))


def _listing(voices: VoiceStore) -> Listing:
    """The enrolled voices; a folder that cannot be read hides no built-in voice."""
    try:
        return voices.list()
    except VoiceError as error:
        return Listing((), error.problems)


def _hindrance(config: Config) -> str | None:
    """Why enrolled voices cannot speak now; None when they can."""
    if config.engine == "builtin":
        return "the configuration says engine: builtin"
    return cosyvoice3.missing(options.model_dir(config, options.state_dir(config, dict(os.environ))))


def _as_json(listing: Listing, hindrance: str | None) -> list[dict[str, Any]]:
    enrolled = [
        {
            "name": header.name,
            "engine": cosyvoice3.NAME,
            "languages": [header.language],
            "gender": header.gender or "",
            "description": "enrolled",
            "works": hindrance is None,
        }
        for header in listing.voices
    ]
    return [_fields(name) for name in VOICES] + enrolled


def _fields(builtin: str) -> dict[str, Any]:
    return {**msgspec.to_builtins(VOICES[builtin]), "works": True}


def _about_builtin(name: str) -> str:
    voice = VOICES[name]
    return f"{_line(name, voice.languages, voice.gender, voice.description)} (built in)"


def _about(header: VoiceHeader) -> list[str]:
    lines = [
        f"{header.name}: {header.language}, {GENDERS[header.gender or '']}, enrolled {header.created}",
        f"transcript  {header.transcript}",
        f"prompt      {header.prompt_duration_s:.1f} s of a recording of {header.source_duration_s:.1f} s",
        f"made with   speaker encoder {header.speaker_encoder}, speech tokenizer {header.speech_tokenizer}",
    ]
    for finding in header.findings:
        lines.append(f"{MARKS[finding.level]} {finding.check:11} {finding.what}")
    return lines


def _line(name: str, languages: tuple[str, ...], gender: str, description: str) -> str:
    padding = " " * (12 - _columns(name))
    return f"{name}{padding} {', '.join(languages):8} {GENDERS[gender]:7} {description}"


def _columns(text: str) -> int:
    """Columns of a terminal: Chinese characters take two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
