"""CosyVoice3 as the worker sees it: voices from files, errors as sentences, sound held back if slow."""

from pathlib import Path

import numpy as np
import pytest
import torch

from daemon.config import voices_dir
from daemon.synthesis.cosyvoice3.engine import CosyVoice3Engine
from daemon.synthesis.cosyvoice3.memory import PaceMemory
from daemon.synthesis.engine import EngineError, EngineOptions, Piece, SynthesisRequest
from tests import tiny_model
from tests.voices.voice_files import written_voice

TEXT = "今天下午三点开会，请大家准时到场。明天上午九点再来一次，不要迟到。"


def write_voice(state: Path, name: str, seed: int) -> None:
    voices_dir(state).mkdir(exist_ok=True, mode=0o700)
    written_voice(voices_dir(state) / f"{name}.safetensors", seed)


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    state = tmp_path_factory.mktemp("state")
    tiny_model.make(state)
    write_voice(state, "mama", seed=1)
    return state


@pytest.fixture(scope="module")
def engine(state: Path) -> CosyVoice3Engine:
    engine = CosyVoice3Engine(EngineOptions(state, 1, state / "prepared", "balanced"))
    engine.load(lambda line: None)
    return engine


def speak(engine: CosyVoice3Engine, text: str = TEXT, voice: str = "mama") -> list[Piece]:
    request = SynthesisRequest(text=text, language="zh", voice=voice)
    return list(engine.synthesize(request, lambda: False))


def joined(pieces: list[Piece]) -> bytes:
    return np.concatenate([piece.samples for piece in pieces]).tobytes()


def test_the_first_time_all_is_made_before_any_is_heard(state: Path, engine: CosyVoice3Engine) -> None:
    (state / "pace.json").unlink(missing_ok=True)
    fresh = CosyVoice3Engine(EngineOptions(state, 1, state / "prepared", "balanced"))
    fresh.load(lambda line: None)
    assert len(speak(fresh)) == 1
    assert (state / "pace.json").exists()


def test_on_a_fast_machine_it_comes_second_by_second_and_is_the_same(
    state: Path, engine: CosyVoice3Engine
) -> None:
    whole = joined(speak(engine))
    (state / "pace.json").write_text('{"quality": "balanced", "threads": 1, "rtf": 0.01}')
    engine._pace = PaceMemory(state / "pace.json", "balanced", 1)
    pieces = speak(engine)
    assert len(pieces) > 2
    assert joined(pieces) == whole


def test_a_voice_enrolled_anew_speaks_anew(state: Path, engine: CosyVoice3Engine) -> None:
    write_voice(state, "papa", seed=2)
    before = joined(speak(engine, voice="papa"))
    write_voice(state, "papa", seed=3)
    assert joined(speak(engine, voice="papa")) != before


def test_a_voice_that_is_gone_is_one_sentence(engine: CosyVoice3Engine) -> None:
    with pytest.raises(EngineError, match="there is no voice 'nobody'"):
        speak(engine, voice="nobody")


def test_a_text_that_cannot_be_said_is_one_sentence(engine: CosyVoice3Engine) -> None:
    with pytest.raises(EngineError, match="hoa4"):
        speak(engine, text="你好[hoa4]")
    with pytest.raises(EngineError, match="nothing"):
        speak(engine, text="……")


def test_its_version_tells_model_and_preset(state: Path, engine: CosyVoice3Engine) -> None:
    fast = CosyVoice3Engine(EngineOptions(state, 1, state / "prepared", "fast"))
    assert engine.version != fast.version
    assert {voice.name for voice in engine.voices()} >= {"mama"}


def test_without_a_model_it_does_not_load(tmp_path: Path) -> None:
    engine = CosyVoice3Engine(EngineOptions(tmp_path, 1, tmp_path, "balanced"))
    with pytest.raises(EngineError, match="cosyvoiced model prepare"):
        engine.load(lambda line: None)
