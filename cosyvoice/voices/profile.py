"""A voice as one file: what was measured of its prompt, so that speaking needs no recording and no encoder.

The file is safetensors with the tensors `speech_tokens` (T,) int32, `mel` (2T, 80) float32 and `speaker`
(192,) float32, and the header of index.py as metadata. It is its owner's only (0600), and whole or absent.
"""

import contextlib
import hashlib
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save

from cosyvoice import folders
from cosyvoice.config import MEL_FRAMES_PER_TOKEN, SPEECH_CODEBOOK
from cosyvoice.errors import VoiceError
from cosyvoice.voices.index import VoiceHeader, metadata, open_private, parse
from cosyvoice.voices.store import give_to_owner_of

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]


class Prompt(NamedTuple):
    """The tensors of a voice."""

    speech_tokens: Ints  # (T,) int32, 0 to 6560, 25 a second
    mel: Floats  # (2T, 80) float32 natural-log mel, 50 frames a second
    speaker: Floats  # (192,) float32 embedding, not normalised

    @property
    def digest(self) -> str:
        """sha256 of all values."""
        return hashlib.sha256(b"".join(tensor.tobytes() for tensor in self)).hexdigest()


@dataclass(frozen=True)
class VoiceProfile:
    """A voice: its header, which is all that lists need, and its tensors."""

    header: VoiceHeader
    prompt: Prompt


def make_prompt(speech_tokens: Ints, mel: Floats, speaker: Floats) -> Prompt:
    """Trims tokens (N,) and mel (80, F) to the same time: two frames for each token."""
    tokens = min(mel.shape[1] // MEL_FRAMES_PER_TOKEN, len(speech_tokens))
    trimmed = np.ascontiguousarray(mel[:, : MEL_FRAMES_PER_TOKEN * tokens].T, dtype=np.float32)  # (2T, 80)
    return Prompt(speech_tokens[:tokens].astype(np.int32), trimmed, speaker.astype(np.float32))


def write(path: Path, header: VoiceHeader, prompt: Prompt) -> VoiceHeader:
    """Writes the voice, in place of one that was there; the header as written. Raises `VoiceError`.

    A crash leaves the old file or the new one, and nothing half written under the voice's name.
    """
    header = replace(header, tokens=len(prompt.speech_tokens), digest=prompt.digest)
    data = save(prompt._asdict(), metadata(header))
    _check(parse(data, len(data), path), prompt, path)
    try:
        _replace(path, data)
    except OSError as error:
        raise VoiceError([f"{path} cannot be written: {error.strerror}"]) from error
    return header


def read(path: Path) -> VoiceProfile:
    """Reads and checks a voice. Raises `VoiceError`."""
    with open_private(path) as file:
        data = file.read()
    header = parse(data, len(data), path)
    try:
        tensors = load(data)
    except SafetensorError as error:
        raise VoiceError([f"{path} is no voice, or damaged: {error}"]) from error
    prompt = Prompt(
        **{name: tensor.copy() for name, tensor in tensors.items()}
    )  # PyTorch wants them writable
    _check(header, prompt, path)
    return VoiceProfile(header, prompt)


def _check(header: VoiceHeader, prompt: Prompt, path: Path) -> None:
    """Holds the values to what the networks take; shapes and types are the header's. Raises `VoiceError`."""
    if prompt.digest != header.digest:
        raise VoiceError([f"{path} is damaged: its checksum is another"])
    if prompt.speech_tokens.min() < 0 or prompt.speech_tokens.max() >= SPEECH_CODEBOOK:
        raise VoiceError([f"{path} is no voice: a speech token is outside of 0 to {SPEECH_CODEBOOK - 1}"])
    if not (np.isfinite(prompt.mel).all() and np.isfinite(prompt.speaker).all() and prompt.speaker.any()):
        raise VoiceError([f"{path} is no voice: it holds values that are no numbers, or no speaker"])


def _replace(path: Path, data: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)  # mode 0600
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            give_to_owner_of(path.parent, file.fileno())
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(temporary).unlink()
        raise
    folders.sync(path.parent)
