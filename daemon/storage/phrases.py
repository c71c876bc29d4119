"""The phrase cache: what was said once is not synthesised again."""

import hashlib
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from daemon.audio.wav import WavError
from daemon.storage.disk import check_room
from daemon.storage.folders import make_folder
from daemon.storage.soundness import whole_clip
from daemon.synthesis.engine import SynthesisRequest

_TOLERANCE_S = 0.01


class Phrase(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a cached phrase besides its sound; stored beside it as `KEY.json`."""

    engine: str
    voice: str
    sample_rate_hz: int
    duration_s: float
    degraded: tuple[str, ...]


def key(request: SynthesisRequest, engine_version: str) -> str:
    """One name for all that decides the samples."""
    return hashlib.sha256(msgspec.msgpack.encode((engine_version, request))).hexdigest()


class PhraseCache:
    """A folder of `KEY.wav` with `KEY.json` beside each. Calls block; `prune` keeps it bounded."""

    def __init__(self, folder: Path, min_free_bytes: int = 0) -> None:
        self.folder = folder
        self._min_free_bytes = min_free_bytes
        self._holds: Counter[str] = Counter()

    def start(self) -> None:
        """Raises `StorageError`."""
        make_folder(self.folder, "phrases.path", 0o750)

    def check_room(self) -> None:
        """Raises `AnnouncementError` (disk_full) while no new phrase may be written."""
        check_room(self.folder, self._min_free_bytes)

    @contextmanager
    def hold(self, *phrase_keys: str) -> Iterator[None]:
        """Keeps phrases from being pruned while they are made or played, be they there yet or not."""
        self._holds.update(phrase_keys)
        try:
            yield
        finally:
            self._holds -= Counter(phrase_keys)  # drops what reaches zero

    @property
    def held(self) -> set[Path]:
        """The WAV files of the phrases that somebody holds."""
        return {self.wav(phrase_key) for phrase_key in self._holds}

    def wav(self, phrase_key: str) -> Path:
        return self.folder / f"{phrase_key}.wav"

    def find(self, phrase_key: str) -> Phrase | None:
        """The cached phrase, marked as used now; None when there is none or it is damaged."""
        wav = self.wav(phrase_key)
        try:
            phrase = msgspec.json.decode(wav.with_suffix(".json").read_bytes(), type=Phrase)
            clip = whole_clip(wav)
            os.utime(wav)
        except (OSError, WavError, msgspec.DecodeError):
            return None
        return phrase if abs(clip.duration_s - phrase.duration_s) < _TOLERANCE_S else None

    def drop(self, phrase_key: str) -> None:
        """Forgets a phrase."""
        for path in (self.wav(phrase_key), self.wav(phrase_key).with_suffix(".json")):
            path.unlink(missing_ok=True)

    def forget(self, voice: str) -> int:
        """Drops all that a voice has said; how many phrases that were. Raises `OSError`."""
        forgotten = 0
        for description in self.folder.glob("*.json"):
            try:
                phrase = msgspec.json.decode(description.read_bytes(), type=Phrase)
            except (FileNotFoundError, msgspec.DecodeError):
                continue
            if phrase.voice == voice:
                self.drop(description.stem)
                forgotten += 1
        return forgotten

    def describe(self, phrase_key: str, phrase: Phrase) -> None:
        """Writes what belongs to a phrase; to be called before its WAV is put in place."""
        path = self.wav(phrase_key).with_suffix(".json")
        temporary = self.folder / f".{phrase_key}.json.tmp"
        temporary.write_bytes(msgspec.json.encode(phrase))
        temporary.replace(path)


def copy(source: Path, target: Path) -> None:
    """Gives a whole file a second life of its own. Raises `OSError`.

    Not a hard link: the two would share their time of last use, by which each folder is pruned, and
    whoever edits the one would change the other.
    """
    temporary = target.with_name(f".{target.name}.tmp")
    try:
        shutil.copyfile(source, temporary)
        temporary.replace(target)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
