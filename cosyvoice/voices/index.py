"""What a voice file says of itself, read with the standard library alone.

A voice file is a safetensors file: 8 bytes of length, that much JSON, then the tensors' bytes. The daemon
process lists voices from the JSON and never loads a tensor. How to write and load the whole is in profile.py.
"""

import dataclasses
import json
import logging
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, get_args

from cosyvoice.config import MEL_BINS, MEL_FRAMES_PER_TOKEN, SPEAKER_DIM, SPEECH_TOKENS_PER_S
from cosyvoice.errors import VoiceError
from cosyvoice.voices import names
from cosyvoice.voices.findings import Finding, Level

log = logging.getLogger(__name__)

SUFFIX = ".safetensors"
FORMAT_VERSION = 1
MAX_FILE_BYTES = 4 * 2**20  # 30 s of mel and tokens are half a MiB
MAX_HEADER_BYTES = 2**16

_VERSION_KEY, _VOICE_KEY = "cosyvoiced_voice", "voice"  # in safetensors' __metadata__, whose values are text
_KINDS: dict[str, type | tuple[type, ...]] = {  # of the fields that are not just text
    "gender": (str, type(None)),
    "source_duration_s": (int, float),
}


@dataclass(frozen=True)
class VoiceHeader:
    """All of a voice but its tensors."""

    name: str
    transcript: str  # what is said in the prompt, as plain text
    language: str  # ISO 639-1
    gender: str | None  # "f", "m", or not told
    created: str  # ISO 8601, UTC
    source_duration_s: float  # of the recording, silence and all
    findings: tuple[Finding, ...]
    speaker_encoder: str  # fingerprints (sha256, 16 digits) of the models that made the tensors
    speech_tokenizer: str
    digest: str = ""  # sha256 of the tensors: changes with the voice's sound; known once they are written
    tokens: int = 0  # speech tokens of the prompt; likewise

    @property
    def prompt_duration_s(self) -> float:
        return self.tokens / SPEECH_TOKENS_PER_S


def metadata(header: VoiceHeader) -> dict[str, str]:
    """The `__metadata__` of the safetensors file; the number of tokens is in the tensors' shapes."""
    fields = dataclasses.asdict(header)
    del fields["tokens"]
    return {_VERSION_KEY: str(FORMAT_VERSION), _VOICE_KEY: json.dumps(fields, ensure_ascii=False)}


def read_header(path: Path) -> VoiceHeader:
    """Reads and checks everything but the tensors' values. Raises `VoiceError`."""
    with open_private(path) as file:
        return parse(file.read(8 + MAX_HEADER_BYTES), os.fstat(file.fileno()).st_size, path)


def open_private(path: Path) -> BinaryIO:
    """Opens a voice file that is what it claims to be: no link, no device, of a sane size, its owner's only.

    A file that others can read is closed to them, since a voice can be imitated with it.

    Raises:
        VoiceError: it is not such a file, or cannot be read.
    """
    try:
        file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    except FileNotFoundError as error:
        raise VoiceError([f"there is no voice '{path.stem}'"]) from error
    except OSError as error:
        reason = "is a symbolic link" if path.is_symlink() else f"cannot be read: {error.strerror}"
        raise VoiceError([f"{path} {reason}"]) from error
    try:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise VoiceError([f"{path} is no file"])
        if status.st_size > MAX_FILE_BYTES:
            raise VoiceError([f"{path} is no voice: it has {status.st_size} bytes"])
        if status.st_mode & 0o077:
            _close_to_others(file, path)
    except BaseException:
        file.close()
        raise
    return file


def parse(data: bytes, file_bytes: int, path: Path) -> VoiceHeader:
    """The header of a voice file of `file_bytes` that begins with `data`. Raises `VoiceError`."""
    try:
        length = int.from_bytes(data[:8], "little")
        if not 2 <= length <= min(MAX_HEADER_BYTES, len(data) - 8):
            raise ValueError("it is no safetensors file, or cut short")
        header = json.loads(data[8 : 8 + length])
        version = header["__metadata__"][_VERSION_KEY]
        if version != str(FORMAT_VERSION):
            raise ValueError(f"its format is {version!r}, this version reads {FORMAT_VERSION}")
        tokens = _tokens(header, file_bytes - 8 - length)
        voice = _voice(json.loads(header["__metadata__"][_VOICE_KEY]), tokens)
    except KeyError as error:
        raise VoiceError([f"{path} is no voice: {error} is missing"]) from error
    except (ValueError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise VoiceError([f"{path} is no voice, or damaged: {error}"]) from error
    if names.checked(voice.name) != path.stem:
        raise VoiceError([f"{path} holds the voice '{voice.name}': name it {voice.name}{SUFFIX}"])
    return voice


def _close_to_others(file: BinaryIO, path: Path) -> None:
    try:
        os.fchmod(file.fileno(), 0o600)
    except OSError as error:
        raise VoiceError([f"{path} can be read by others; run: chmod 600 '{path}'"]) from error
    log.warning("%s could be read by others; now only by its owner", path)


def _tokens(header: dict[str, Any], data_bytes: int) -> int:
    """The number of speech tokens, once every tensor has its type, shape and place. Raises `ValueError`."""
    tokens = header["speech_tokens"]["shape"][0]
    expected = {
        "speech_tokens": ("I32", [tokens]),
        "mel": ("F32", [MEL_FRAMES_PER_TOKEN * tokens, MEL_BINS]),
        "speaker": ("F32", [SPEAKER_DIM]),
    }
    for name, (dtype, shape) in expected.items():
        found = header[name]["dtype"], header[name]["shape"]
        if found != (dtype, shape):
            raise ValueError(f"{name} is {found!r}, not {(dtype, shape)!r}")
    if tokens < 1 or set(header) - set(expected) != {"__metadata__"}:
        raise ValueError("it has no speech tokens, or tensors that no voice has")
    if data_bytes != 4 * (tokens + MEL_FRAMES_PER_TOKEN * tokens * MEL_BINS + SPEAKER_DIM):
        raise ValueError("it is cut short, or has something behind its end")
    return int(tokens)


def _voice(fields: dict[str, Any], tokens: int) -> VoiceHeader:
    """Raises `ValueError`, `TypeError` or `KeyError`."""
    findings = tuple(Finding(**finding) for finding in fields.pop("findings"))
    for finding in findings:
        for text in (finding.check, finding.what, finding.do or ""):
            _hold(text, str)
        if finding.level not in get_args(Level):
            raise ValueError(f"{finding.level!r} is no level of a finding")
    for name, value in fields.items():
        _hold(value, _KINDS.get(name, str))
    return VoiceHeader(**fields, findings=findings, tokens=tokens)


def _hold(value: object, kind: type | tuple[type, ...]) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{str(value)[:40]!r} stands where something else belongs")
    if isinstance(value, str) and not value.isprintable():  # a terminal would obey what is in it
        raise ValueError(f"{value[:40]!r} holds control characters")
