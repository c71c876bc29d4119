"""Who speaks: the CAM++ speaker encoder, and whether it hears one person or several.

CAM++: Wang et al. 2023, "CAM++: A fast and efficient network for speaker verification using context-aware
masking", arXiv 2303.00332.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime

from cosyvoice.config import SPEAKER_DIM
from cosyvoice.errors import ModelError
from cosyvoice.voices import network
from cosyvoice.voices.findings import Finding

FILE = "campplus.onnx"
FRAMES_PER_S = 100  # of the filter bank

Floats = npt.NDArray[np.float32]

# Of two windows of 2 s. Measured on recordings of four speakers, 8 clips of each: one speaker's two least
# alike windows had 0.49 or more, half of them over 0.63; two speakers' 0.31 or less, half under 0.15.
_WINDOW_FRAMES, _HOP_FRAMES = 2 * FRAMES_PER_S, FRAMES_PER_S
_SAME_SPEAKER, _OTHER_SPEAKER = 0.45, 0.35


class SpeakerEncoder:
    """CAM++, loaded; `load` makes one."""

    def __init__(self, session: onnxruntime.InferenceSession) -> None:
        self._session = session

    def embed(self, fbank: Floats) -> Floats:
        """The voice of `fbank` (T, 80), mean removed, as an embedding (192,), not normalised.

        Raises:
            ModelError: the network is not CAM++.
        """
        (embedding,) = network.run(self._session, FILE, [fbank[None]])  # (1, 192)
        if embedding.shape != (1, SPEAKER_DIM):
            raise ModelError([f"{FILE} gave the shape {embedding.shape} instead of (1, {SPEAKER_DIM})"])
        return np.asarray(embedding[0], dtype=np.float32)


def load(model_dir: Path) -> SpeakerEncoder:
    """Raises `ModelError`."""
    return SpeakerEncoder(network.load(model_dir / FILE, threads=1))  # 0.1 s of work for a prompt


def windows(fbank: Floats) -> list[Floats]:
    """Overlapping windows of 2 s of `fbank` (T, 80), each with its own mean removed."""
    starts = range(0, len(fbank) - _WINDOW_FRAMES + 1, _HOP_FRAMES)
    parts = [fbank[start : start + _WINDOW_FRAMES] for start in starts]
    return [part - part.mean(axis=0) for part in parts]


def one_speaker(embeddings: Sequence[Floats]) -> Finding:
    """Compares the embeddings of a recording's windows: the two least alike tell."""
    if len(embeddings) < 2:
        return Finding("speakers", "note", "too short to tell whether one person speaks")
    likeness = least_alike(embeddings)
    what = f"the least alike parts of 2 s are {likeness:.2f} alike"
    if likeness >= _SAME_SPEAKER:
        return Finding("speakers", "ok", f"one person speaks: {what}")
    do = "record one person alone, in one go, in one place"
    if likeness >= _OTHER_SPEAKER:
        return Finding("speakers", "note", f"the voice changes much: {what}", do)
    return Finding("speakers", "problem", f"more than one person seems to speak: {what}", do)


def least_alike(embeddings: Sequence[Floats]) -> float:
    """The smallest cosine between any two embeddings, -1 to 1."""
    unit = np.stack([embedding / np.linalg.norm(embedding) for embedding in embeddings])  # (W, 192)
    return float((unit @ unit.T).min())
