"""Kokoro-82M: phonemes and a voice pack to 24 kHz samples, one short piece at a time."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime

from daemon.synthesis.builtin.styles import NEUTRAL, Style
from daemon.synthesis.builtin.voices import Share

if TYPE_CHECKING:
    from daemon.synthesis.engine import Samples

SAMPLE_RATE_HZ = 24000
MAX_TOKENS = 508  # the packs have 510 rows; two tokens pad the ends
TIMBRE_WIDTH = 128  # the decoder reads this much of a row, durations and melody come from the rest


class Kokoro:
    """The model's session and the voice packs; the same call gives the same samples."""

    def __init__(self, model: Path, threads: int) -> None:
        self._model = model
        self._threads = threads
        self._session: Any = None
        self.tokens: dict[str, int] = {}
        self._packs: dict[str, Any] = {}  # name -> (510, 256) float16, 255 KiB each, read when first used

    def load(self) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3  # errors only
        # A plan per length would keep one block for each length that was ever spoken.
        options.enable_mem_pattern = False
        self._session = onnxruntime.InferenceSession(
            str(self._model), options, providers=["CPUExecutionProvider"]
        )
        self.tokens = json.loads(_data("kokoro_vocab.json").read_text(encoding="utf-8"))

    def synthesize(
        self, phonemes: str, voice: str, speed: float, style: Style = NEUTRAL, share: Share | None = None
    ) -> Samples:
        """(N,) float32 at 24 kHz; `share` mixes another voice in.

        Symbols outside the alphabet are passed over; none known: no samples.
        """
        known = [symbol for symbol in phonemes if symbol in self.tokens][:MAX_TOKENS]
        if not known:
            return np.zeros(0, np.float32)
        tokens = [0, *(self.tokens[symbol] for symbol in known), 0]
        release = onnxruntime.RunOptions()
        # Activations take up to 200 MiB; they go back to the system after each piece.
        release.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        inputs = {
            "tokens": np.array([tokens], np.int64),
            "style": self._row(len(known) - 1, voice, share)[None],
            "speed": np.array([speed], np.float32),
            "pitch": np.array([style.pitch, style.pitch_range], np.float32),
        }
        samples: Samples = self._session.run(None, inputs, release)[0]
        return samples

    def _row(self, number: int, voice: str, share: Share | None) -> Any:
        """(256,) float32: the voice's row for one length of text, with its share of the other voice."""
        row = self.pack(voice)[number].astype(np.float32)
        if share is None:
            return row
        weight = np.full_like(row, share.prosody)
        weight[:TIMBRE_WIDTH] = share.timbre
        return row + weight * (self.pack(share.voice)[number] - row)

    def pack(self, voice: str) -> Any:
        if voice not in self._packs:
            with np.load(str(_data("kokoro_voices.npz"))) as packs:
                self._packs[voice] = packs[voice]
        return self._packs[voice]


def _data(name: str) -> Path:
    return Path(str(resources.files("daemon.synthesis.builtin").joinpath("data", name)))
