import socket
from pathlib import Path

import numpy as np
import pytest

from daemon.synthesis.builtin import voices
from daemon.synthesis.builtin.engine import BuiltinEngine
from daemon.synthesis.builtin.loudness import TARGET_DB, speech_level_db
from daemon.synthesis.builtin.voices import VOICES
from daemon.synthesis.engine import EngineError, SynthesisRequest
from tests.builtin.speech import RATE_HZ, f0_hz, pieces, say

ENGLISH = "The washing machine has finished."
MANDARIN = "洗衣机已经洗好了，请把衣服晾起来。"


@pytest.mark.parametrize(
    ("text", "language", "voice"), [(ENGLISH, "en", "heart"), (MANDARIN, "zh", "zm_yunxia")]
)
def test_the_same_request_gives_the_same_samples(
    engine: BuiltinEngine, text: str, language: str, voice: str
) -> None:
    first, second = (say(engine, text, language, voice, seed=7) for _ in range(2))
    assert np.array_equal(first, second)


def test_the_seed_changes_the_noise_of_heart(engine: BuiltinEngine) -> None:
    one, other = (say(engine, ENGLISH, "en", "heart", seed=seed) for seed in (1, 2))
    assert len(one) == len(other)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("voice", VOICES)
def test_every_voice_speaks_at_the_common_level(engine: BuiltinEngine, voice: str) -> None:
    language = "zh" if "zh" in VOICES[voice].languages else "en"
    samples = say(engine, MANDARIN if language == "zh" else ENGLISH, language, voice)
    assert samples.dtype == np.float32
    assert 1.0 < len(samples) / RATE_HZ < 4.5
    # One gain for each voice: a single sentence may be 3 dB softer or louder than the voice's mean.
    assert speech_level_db(samples, RATE_HZ) == pytest.approx(TARGET_DB, abs=3.5)
    assert np.abs(samples).max() < 1.0


def test_the_first_clause_comes_before_the_rest_is_made(engine: BuiltinEngine) -> None:
    asked: list[int] = []

    def cancelled() -> bool:
        asked.append(1)
        return False

    request = SynthesisRequest(text=MANDARIN * 3, language="zh", voice="zf_xiaoyi")
    spoken = engine.synthesize(request, cancelled)
    next(spoken)
    assert len(asked) == 1
    assert len(list(spoken)) >= 2


def test_a_cancelled_request_stops_between_pieces(engine: BuiltinEngine) -> None:
    stop: list[bool] = []
    request = SynthesisRequest(text=MANDARIN * 5, language="zh", voice="zf_xiaoyi")
    spoken = engine.synthesize(request, lambda: bool(stop))
    next(spoken)
    stop.append(True)
    assert list(spoken) == []


def test_pieces_begin_and_end_at_zero(engine: BuiltinEngine) -> None:
    for piece in pieces(engine, MANDARIN, "zh", "zf_xiaoyi"):
        assert piece.samples[0] == 0
        assert piece.samples[-1] == 0


def test_heart_leaves_mandarin_to_the_default_voice_and_says_so(engine: BuiltinEngine) -> None:
    first, *rest = pieces(engine, MANDARIN, "zh", "heart")
    assert first.degraded == ("voice",)
    assert all(piece.degraded == () for piece in rest)


def test_a_mixed_sentence_is_spoken_by_one_voice(engine: BuiltinEngine) -> None:
    mixed = pieces(engine, "Meeting Room 的会议开始了。", "zh", "zf_xiaoyi")
    assert all(piece.degraded == () for piece in mixed)
    assert sum(len(piece.samples) for piece in mixed) > 1.2 * RATE_HZ


def test_a_share_of_an_english_voice_is_in_every_piece_with_english_and_in_no_other_announcement(
    engine: BuiltinEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"mixed": "洗衣机已经洗好了，请打开 living room 的窗户。", "Mandarin": MANDARIN}
    shared = {name: pieces(engine, text, "zh", "zf_xiaoyi") for name, text in texts.items()}
    monkeypatch.setattr(voices, "ENGLISH_SHARES", {})
    alone = {name: pieces(engine, text, "zh", "zf_xiaoyi") for name, text in texts.items()}
    same = {
        name: [
            np.array_equal(one.samples, other.samples)
            for one, other in zip(shared[name], alone[name], strict=True)
        ]
        for name in texts
    }
    assert not any(same["mixed"])
    assert all(same["Mandarin"])


@pytest.mark.parametrize("voice", voices.ENGLISH_SHARES)
def test_the_share_leaves_the_speaker_near_its_own_pitch(
    engine: BuiltinEngine, voice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "请打开 living room 的窗户。"
    shared = np.median(f0_hz(say(engine, text, "zh", voice)))
    monkeypatch.setattr(voices, "ENGLISH_SHARES", {})
    alone = np.median(f0_hz(say(engine, text, "zh", voice)))
    assert shared == pytest.approx(alone, rel=0.2)  # between two speakers it is 33 %


def test_german_is_read_in_english(engine: BuiltinEngine) -> None:
    first, *_ = pieces(engine, "Guten Tag", "de", "heart")
    assert "language" in first.degraded
    assert len(first.samples) > RATE_HZ // 4


@pytest.mark.parametrize("text", ["…", "[foo] bar"])
def test_what_cannot_be_said_is_an_engine_error(engine: BuiltinEngine, text: str) -> None:
    with pytest.raises(EngineError):
        pieces(engine, text, "en", "heart")


@pytest.mark.parametrize("speed", [0.5, 2.0])
def test_extreme_speeds_are_spoken(engine: BuiltinEngine, speed: float) -> None:
    neutral = len(say(engine, ENGLISH, "en", "heart"))
    assert len(say(engine, ENGLISH, "en", "heart", speed=speed)) == pytest.approx(neutral / speed, rel=0.3)


def test_synthesis_before_load_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="not loaded"):
        pieces(BuiltinEngine(tmp_path, threads=1), "你好", "zh", "zf_xiaoyi")


def test_the_network_is_never_touched(engine: BuiltinEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise AssertionError(f"a connection to {arguments} was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    fresh = BuiltinEngine(engine.state_dir, threads=2)
    fresh.load(lambda line: None)
    assert say(fresh, ENGLISH, "en", "heart").any()


def test_the_version_names_code_and_models(engine: BuiltinEngine) -> None:
    assert len(engine.version) == 16
    assert engine.version == BuiltinEngine(Path("elsewhere"), threads=1).version
