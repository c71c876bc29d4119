"""What a prepared folder says of itself. Light: the daemon reads it without PyTorch."""

import hashlib
from pathlib import Path

import msgspec

from cosyvoice.config import ModelConfig
from cosyvoice.errors import ModelError

FILE = "manifest.json"
FORMAT = 1  # raised whenever an older reader would misunderstand the folder

LLM = "llm.safetensors"
TEXT_EMBEDDING = "text_embedding.safetensors"
FLOW = "flow.safetensors"
VOCODER = "vocoder.safetensors"
TOKENIZER = "tokenizer"  # a folder
VOCABULARY = f"{TOKENIZER}/vocab.json"
MERGES = f"{TOKENIZER}/merges.txt"
SPEAKER_ENCODER = "campplus.onnx"
SPEECH_TOKENIZER = "speech_tokenizer_v3.onnx"
ENROLMENT = (SPEAKER_ENCODER, SPEECH_TOKENIZER)  # needed to add a voice, never to speak

PREPARE = "run `cosyvoiced model prepare` again"


class StoredFile(msgspec.Struct, frozen=True):
    """A file as it was when the folder was made."""

    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """A prepared folder: its sizes, where it comes from, and the checksum of each of its files."""

    format: int
    model: str  # the published name, or that the weights are random
    config: ModelConfig
    time_points: tuple[float, ...]  # of the rows of the flow's table of modulations
    sources: dict[str, int]  # file of the published folder -> bytes
    files: dict[str, StoredFile]  # path inside this folder -> what it must be
    created: str  # ISO 8601, UTC
    version: str  # of the program that made it

    @property
    def fingerprint(self) -> str:
        """Names what is heard: it is the same for two folders exactly when all that speaks is the same."""
        speaks = sorted((name, file.sha256) for name, file in self.files.items() if name not in ENROLMENT)
        return hashlib.sha256(repr((self.format, self.time_points, speaks)).encode()).hexdigest()[:16]

    @property
    def can_enrol(self) -> bool:
        """Whether a voice can be added with this folder."""
        return all(name in self.files for name in ENROLMENT)


class _Format(msgspec.Struct):
    format: int


def exists(folder: Path) -> bool:
    """Whether this is a prepared folder; it may still be a damaged one."""
    return (folder / FILE).is_file()


def read(folder: Path) -> Manifest:
    """Raises `ModelError`."""
    path = folder / FILE
    try:
        text = path.read_bytes()
    except FileNotFoundError as error:
        raise ModelError([f"{folder} holds no prepared model; run `cosyvoiced model prepare`"]) from error
    except OSError as error:
        raise ModelError([f"{path} cannot be read: {error.strerror}"]) from error
    try:
        found = msgspec.json.decode(text, type=_Format).format
        if found != FORMAT:
            raise ModelError([f"{folder} has format {found} and this version reads {FORMAT}; {PREPARE}"])
        return msgspec.json.decode(text, type=Manifest)
    except msgspec.DecodeError as error:
        raise ModelError([f"{path} is damaged ({error}); {PREPARE}"]) from error


def misplaced(folder: Path, manifest: Manifest) -> dict[str, str]:
    """A sentence for each file that is not there or not as long as it was; the cheap half of verifying."""
    problems = {}
    for name, expected in manifest.files.items():
        path = folder / name
        if not path.is_file():
            problems[name] = f"{name} is missing; {PREPARE}"
        elif (found := path.stat().st_size) != expected.bytes:
            problems[name] = f"{name} has {found} bytes instead of {expected.bytes}; {PREPARE}"
    return problems


def encode(manifest: Manifest) -> bytes:
    """The text of `manifest.json`."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
