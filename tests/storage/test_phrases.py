"""The phrase cache gives back what was stored, for the same request only."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from daemon.audio.wav import WavWriter
from daemon.storage import phrases
from daemon.storage.phrases import Phrase, PhraseCache
from daemon.synthesis.engine import SynthesisRequest

REQUEST = SynthesisRequest(text="Dinner is ready", language="en", voice="heart")
PHRASE = Phrase(engine="builtin", voice="heart", sample_rate_hz=24000, duration_s=1.0, degraded=("style",))


@pytest.fixture
def cache(tmp_path: Path) -> PhraseCache:
    cache = PhraseCache(tmp_path / "phrases")
    cache.start()
    return cache


def store(cache: PhraseCache, key: str) -> None:
    with WavWriter(cache.wav(key), 24000) as writer:
        writer.write(bytes(48000))
        cache.describe(key, PHRASE)
        writer.finish()


@pytest.mark.parametrize(
    "change",
    [
        {"text": "Dinner is ready."},
        {"voice": "af_heart"},
        {"style": "sad"},
        {"speed": 1.1},
        {"seed": 1},
        {"language": "zh"},
    ],
)
def test_everything_that_decides_the_samples_is_in_the_key(change: dict[str, Any]) -> None:
    assert phrases.key(REQUEST, "1") != phrases.key(msgspec.structs.replace(REQUEST, **change), "1")


def test_the_engine_version_is_in_the_key() -> None:
    assert phrases.key(REQUEST, "1") == phrases.key(msgspec.structs.replace(REQUEST), "1")
    assert phrases.key(REQUEST, "1") != phrases.key(REQUEST, "2")


def test_what_was_stored_is_found(cache: PhraseCache) -> None:
    assert cache.find("k") is None
    store(cache, "k")
    assert cache.find("k") == PHRASE


@pytest.mark.parametrize("damage", ["wav gone", "json gone", "json cut", "wav cut", "wav empty", "wav half"])
def test_half_of_a_phrase_is_none(cache: PhraseCache, damage: str) -> None:
    store(cache, "k")
    path = cache.wav("k") if damage.startswith("wav") else cache.wav("k").with_suffix(".json")
    if damage.endswith("gone"):
        path.unlink()
    else:
        left_bytes = {"cut": 20, "empty": 0, "half": 24000}[damage.split()[1]]
        path.write_bytes(path.read_bytes()[:left_bytes])
    assert cache.find("k") is None


def test_a_held_phrase_is_known_until_the_last_one_lets_go(cache: PhraseCache) -> None:
    with cache.hold("a", "b"):
        with cache.hold("a"):
            assert cache.held == {cache.wav("a"), cache.wav("b")}
        assert cache.held == {cache.wav("a"), cache.wav("b")}
    assert cache.held == set()


def test_a_failure_lets_go(cache: PhraseCache) -> None:
    with pytest.raises(OSError, match="device"), cache.hold("a"):
        raise OSError("device")
    assert cache.held == set()


def test_a_copy_outlives_the_cache(cache: PhraseCache, tmp_path: Path) -> None:
    store(cache, "k")
    target = tmp_path / "out.wav"
    phrases.copy(cache.wav("k"), target)
    cache.drop("k")
    assert cache.find("k") is None
    assert len(target.read_bytes()) == 44 + 48000


def test_saying_a_phrase_again_does_not_make_its_older_copies_younger(
    cache: PhraseCache, tmp_path: Path
) -> None:
    store(cache, "k")
    target = tmp_path / "out.wav"
    phrases.copy(cache.wav("k"), target)
    os.utime(target, (1000, 1000))
    cache.find("k")
    assert target.stat().st_mtime == 1000


def test_a_copy_that_fails_leaves_nothing_behind(cache: PhraseCache, tmp_path: Path) -> None:
    store(cache, "k")
    (tmp_path / "out.wav").mkdir()
    with pytest.raises(OSError, match="directory"):
        phrases.copy(cache.wav("k"), tmp_path / "out.wav")
    assert list(tmp_path.glob(".*")) == []


def test_a_missing_source_is_an_error(cache: PhraseCache, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        phrases.copy(cache.wav("k"), tmp_path / "out.wav")


def test_what_a_voice_has_said_is_forgotten(tmp_path: Path) -> None:
    cache = PhraseCache(tmp_path)
    cache.start()
    for name, voice in (("a", "mama"), ("b", "heart"), ("c", "mama")):
        cache.wav(name).write_bytes(b"RIFF")
        cache.describe(
            name, Phrase(engine="e", voice=voice, sample_rate_hz=24000, duration_s=1.0, degraded=())
        )
    (tmp_path / "d.json").write_text("damaged")
    assert cache.forget("mama") == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.json", "b.wav", "d.json"]
