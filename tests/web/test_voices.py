"""Recordings that come over HTTP: looked at by the real process, and never trusted."""

import io
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import soundfile

from daemon.synthesis.cosyvoice3 import facts
from tests.web.house import a_house

RATE_HZ = 24000
WAV = {"Content-Type": "audio/wav"}
NEEDS_TORCH = pytest.mark.skipif(find_spec("torch") is None, reason="needs the extra cosyvoice3")


def a_recording(seconds: float, loudness: float = 0.2) -> bytes:
    """Bursts of a tone with quiet between them."""
    times = np.arange(int(seconds * RATE_HZ)) / RATE_HZ
    noise = np.random.default_rng(0).normal(0, 0.0005, len(times))
    samples = loudness * np.sin(2 * np.pi * 200 * times) * (times % 1 < 0.8) * (times > 0.3) + noise
    file = io.BytesIO()
    soundfile.write(file, samples, RATE_HZ, format="WAV")
    return file.getvalue()


async def test_a_recording_is_measured_and_judged(tmp_path: Path) -> None:
    async with a_house(tmp_path) as (_, client):
        text = {"text": "今天天气很好我们去公园散步吧"}
        answer = await client.post("/api/voices/check", params=text, content=a_recording(5), headers=WAV)
    told = answer.json()
    assert answer.status_code == 200
    assert told["duration_s"] == 5.0
    assert told["level_db"] == pytest.approx(-17, abs=2)
    assert {finding["check"] for finding in told["findings"]} >= {"length", "noise", "level", "transcript"}


async def test_what_is_no_recording_is_a_problem_without_a_path(tmp_path: Path) -> None:
    async with a_house(tmp_path) as (_, client):
        answer = await client.post("/api/voices/check", content=b"nothing", headers=WAV)
    (finding,) = answer.json()["findings"]
    assert finding["level"] == "problem"
    assert "the recording is no WAV" in finding["what"]
    assert "/" not in finding["what"].partition("(")[0]


async def test_a_large_recording_is_refused(tmp_path: Path) -> None:
    async with a_house(tmp_path) as (_, client):
        answer = await client.post("/api/voices/check", content=bytes(11 * 2**20), headers=WAV)
    assert answer.status_code == 413


@NEEDS_TORCH
async def test_a_recording_becomes_a_voice_once(tmp_path: Path) -> None:
    from cosyvoice.voices import speaker, speech_tokenizer
    from cosyvoice.weights import random_onnx
    from tests.voices import signals

    (tmp_path / "model").mkdir()
    random_onnx.write_speaker_encoder(tmp_path / "model" / speaker.FILE, seed=0)
    random_onnx.write_speech_tokenizer(tmp_path / "model" / speech_tokenizer.FILE, seed=0)
    spoken = signals.joined(*(signals.silence(0.8), signals.speech(2.5), signals.silence(0.4)))
    spoken = signals.joined(spoken, signals.speech(2.0), signals.silence(0.6))
    clip = io.BytesIO()
    soundfile.write(clip, spoken + signals.noise(6.3, -65), signals.RATE_HZ, format="WAV")
    asked = {"text": "今天天气真好，我们一起出去走走，顺便买水果。", "gender": "f"}
    async with a_house(tmp_path) as (_, client):
        made = await client.post("/api/voices/妈妈", params=asked, content=clip.getvalue(), headers=WAV)
        again = await client.post("/api/voices/妈妈", params=asked, content=clip.getvalue(), headers=WAV)
        unfit = await client.post("/api/voices/papa", params=asked, content=a_recording(1.5), headers=WAV)
        removed = await client.delete("/api/voices/妈妈")
    assert (made.status_code, made.json()["name"]) == (201, "妈妈")
    assert {finding["check"] for finding in made.json()["findings"]} >= {"length", "noise", "transcript"}
    assert again.status_code == 409
    assert (unfit.status_code, unfit.json()["code"]) == (422, "bad_recording")
    assert "length" in [one["check"] for one in unfit.json()["findings"] if one["level"] == "problem"]
    assert "--" not in unfit.text
    assert removed.status_code == 200
    assert list((tmp_path / "voices").iterdir()) == []


@NEEDS_TORCH
async def test_a_voice_needs_a_name_of_its_own_and_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_house(tmp_path) as (_, client):
        for name in ("heart", "..%2Fx", "Neutral", "auto"):
            answer = await client.post(f"/api/voices/{name}", content=b"x", headers=WAV)
            assert answer.status_code in (400, 405), name
        without_model = await client.post(
            "/api/voices/mama", params={"text": "你好"}, content=b"x", headers=WAV
        )
        monkeypatch.setattr(facts, "to_install", lambda libraries: "torch must be installed")
        without_torch = await client.post("/api/voices/mama", content=b"x", headers=WAV)
    assert (without_model.status_code, without_model.json()["code"]) == (422, "bad_recording")
    assert (without_torch.status_code, without_torch.json()["code"]) == (409, "not_possible")


async def test_a_voice_is_removed_once(tmp_path: Path) -> None:
    async with a_house(tmp_path) as (_, client):
        (tmp_path / "voices").mkdir()
        (tmp_path / "voices" / "mama.safetensors").touch()
        statuses = [
            (await client.delete(f"/api/voices/{name}")).status_code
            for name in ("mama", "mama", "heart", "..")
        ]
    assert statuses[:3] == [200, 404, 409]
    assert not (tmp_path / "voices" / "mama.safetensors").exists()
