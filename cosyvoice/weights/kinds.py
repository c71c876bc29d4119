"""Tells what a file or a folder is when it is not the one that is wanted."""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from cosyvoice.weights.rules import Shape

_HEAD_BYTES = 512
_LFS = b"version https://git-lfs"
_ZIP = b"PK\x03\x04"  # what torch.save writes since PyTorch 1.6
_ONNX = b"\x08"  # protobuf: field 1 of ModelProto, ir_version, a number
_CUT_OFF = "is cut off, the download did not finish"
_LENGTH_DELIMITED, _VARINT = 2, 0  # protobuf wire types

# Files that only an older release has.
_OLDER_RELEASES = {
    "cosyvoice2.yaml": "CosyVoice 2",
    "speech_tokenizer_v2.onnx": "CosyVoice 2",
    "cosyvoice.yaml": "CosyVoice 1",
    "speech_tokenizer_v1.onnx": "CosyVoice 1",
}


def folder_fault(folder: Path) -> str | None:
    """What a folder is, if files tell that it is of an older release."""
    if (folder / "cosyvoice3.yaml").exists() or (folder / "speech_tokenizer_v3.onnx").exists():
        return None
    return next((release for file, release in _OLDER_RELEASES.items() if (folder / file).exists()), None)


def file_fault(path: Path) -> str | None:
    """What is wrong with a file that can be told without reading all of it: "is a ...", or None.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    start = head.lstrip().lower()
    if not head:
        return "is empty"
    if head.startswith(_LFS):
        return "is a Git LFS pointer and not the file itself"
    if start.startswith((b"<!doctype", b"<html", b"<?xml")):
        return "is a web page and not the file itself"
    if head.startswith(b"GGUF"):
        return "is a GGUF file, which is another program's format"
    return _TESTS[path.suffix](path, head) if path.suffix in _TESTS else None


def _checkpoint_fault(path: Path, head: bytes) -> str | None:
    if head[8:9] == b"{":
        return "is a safetensors file and not the published checkpoint"
    if not head.startswith(_ZIP):
        return "is no PyTorch checkpoint"
    return None if zipfile.is_zipfile(path) else _CUT_OFF


def _onnx_fault(path: Path, head: bytes) -> str | None:
    if not head.startswith(_ONNX):
        return "is no ONNX model"
    with path.open("rb") as file:
        return None if _is_whole_protobuf(file, path.stat().st_size) else _CUT_OFF


_TESTS = {".pt": _checkpoint_fault, ".onnx": _onnx_fault}


def _is_whole_protobuf(file: BinaryIO, size_bytes: int) -> bool:
    """Whether the outermost fields, each of which tells its length, end where the file ends."""
    while file.tell() < size_bytes:
        tag = _varint(file)
        if tag is None:
            return False
        if tag & 7 == _LENGTH_DELIMITED:
            length = _varint(file)
            if length is None:
                return False
            file.seek(length, 1)
        elif tag & 7 != _VARINT or _varint(file) is None:
            return False
    return file.tell() == size_bytes


def _varint(file: BinaryIO) -> int | None:
    value = 0
    for shift in range(0, 64, 7):
        byte = file.read(1)
        if not byte:
            return None
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return value
    return None


def network_fault(network: str, found: Mapping[str, Shape]) -> str | None:
    """Which other network a checkpoint holds, if its tensors tell. The names are those of the releases."""
    if network == "llm":
        if "llm_embedding.weight" in found:  # CosyVoice 3 puts sos and task into the speech embedding
            return "is the language model of CosyVoice 1 or 2"
        if "model.embed_tokens.weight" in found:
            return "is a plain Qwen2 model without the speech layers"
    if network == "flow" and any(name.startswith("encoder.") for name in found):  # CosyVoice 3 has no encoder
        return "is the flow model of CosyVoice 1 or 2"
    if network == "vocoder":
        kernel = next((shape[-1] for name, shape in found.items() if _is_first_layer(name, shape)), None)
        if kernel == 7:  # symmetric; CosyVoice 3 has 5, of which four look ahead
            return "is the vocoder of CosyVoice 1 or 2, which sounds wrong with CosyVoice 3"
    return None


def _is_first_layer(name: str, shape: Shape) -> bool:
    return name.removeprefix("generator.").startswith("conv_pre.") and len(shape) == 3 and shape[-1] > 1
