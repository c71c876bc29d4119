"""A voice made of numbers that nobody spoke."""

import dataclasses
from pathlib import Path

import numpy as np

from cosyvoice.config import SPEECH_CODEBOOK
from cosyvoice.voices import profile
from cosyvoice.voices.findings import Finding
from cosyvoice.voices.index import VoiceHeader

HEADER = VoiceHeader(
    name="mama",
    transcript="今天天气真好，我们出去走走。",
    language="zh",
    gender="f",
    created="2026-01-02T03:04:05+00:00",
    source_duration_s=5.5,
    findings=(Finding("noise", "note", "a fan", "turn it off"), Finding("length", "ok", "3.0 s")),
    speaker_encoder="0123456789abcdef",
    speech_tokenizer="fedcba9876543210",
)


def prompt(tokens: int = 75, seed: int = 0) -> profile.Prompt:
    random = np.random.default_rng(seed)
    return profile.make_prompt(
        random.integers(0, SPEECH_CODEBOOK, tokens, dtype=np.int32),
        random.standard_normal((80, 2 * tokens), dtype=np.float32),
        random.standard_normal(192, dtype=np.float32),
    )


def written_voice(path: Path, seed: int = 0) -> Path:
    profile.write(path, dataclasses.replace(HEADER, name=path.stem), prompt(seed=seed))
    return path
