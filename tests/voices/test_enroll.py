"""From a recording to a voice file, with random networks of the real inputs and outputs."""

import dataclasses
import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from cosyvoice.errors import ModelError, VoiceError
from cosyvoice.voices import enroll, profile, speaker, speech_tokenizer
from cosyvoice.voices.enroll import Reporter, Request
from cosyvoice.voices.findings import Finding
from cosyvoice.weights import random_onnx
from tests.voices.signals import RATE_HZ, joined, noise, silence, speech

TEXT = "今天天气真好，我们一起出去走走，顺便买水果。"  # 20 syllables
SOUND = joined(silence(0.8), speech(2.5), silence(0.4), speech(2.0), silence(0.6)) + noise(6.3, -65)


@pytest.fixture
def request_of_voice(tmp_path: Path) -> Request:
    model_dir = tmp_path / "model"
    model_dir.mkdir()
    random_onnx.write_speaker_encoder(model_dir / speaker.FILE, seed=0)
    random_onnx.write_speech_tokenizer(model_dir / speech_tokenizer.FILE, seed=0)
    soundfile.write(tmp_path / "clip.wav", SOUND, RATE_HZ)
    return Request(
        name="mama",
        recording=str(tmp_path / "clip.wav"),
        text=TEXT,
        model_dir=str(model_dir),
        voices_dir=str(tmp_path / "state" / "voices"),
    )


class Listener:
    """Remembers what a person would be told."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.findings: list[Finding] = []

    def reporter(self) -> Reporter:
        return Reporter(self.lines.append, self.findings.append)


def test_a_recording_becomes_a_voice(request_of_voice: Request) -> None:
    told = Listener()
    header = enroll.enroll(request_of_voice, told.reporter())
    read = profile.read(Path(request_of_voice.voices_dir) / "mama.safetensors")
    assert read.header == header
    assert (header.transcript, header.language, header.source_duration_s) == (TEXT, "zh", 6.3)
    assert header.prompt_duration_s == pytest.approx(5.2, abs=0.15)  # 4.9 s of words, 0.3 s of room
    assert list(header.findings) == told.findings
    assert {finding.check for finding in told.findings} >= {"length", "noise", "speakers", "transcript"}
    assert len(told.lines) == 1


def test_the_same_recording_gives_the_same_voice(request_of_voice: Request) -> None:
    first = enroll.enroll(request_of_voice, Listener().reporter())
    again = enroll.enroll(request_of_voice, Listener().reporter())
    assert first.digest == again.digest


def test_a_problem_keeps_the_voice_out_unless_forced(request_of_voice: Request) -> None:
    soundfile.write(request_of_voice.recording, np.clip(SOUND * 4, -1, 1), RATE_HZ)
    with pytest.raises(VoiceError, match="not added because of clipping; --force"):
        enroll.enroll(request_of_voice, Listener().reporter())
    assert not Path(request_of_voice.voices_dir).exists()
    forced = dataclasses.replace(request_of_voice, force=True)
    header = enroll.enroll(forced, Listener().reporter())
    assert [finding.check for finding in header.findings if finding.level == "problem"] == ["clipping"]


def test_a_long_recording_is_cut_where_it_is_told(request_of_voice: Request) -> None:
    long = joined(SOUND, SOUND, SOUND)
    soundfile.write(request_of_voice.recording, long, RATE_HZ)
    whole = dataclasses.replace(request_of_voice, text=TEXT * 3)
    with pytest.raises(VoiceError, match=r"too long, 10 s are used: add --until 5\.7"):
        enroll.enroll(whole, Listener().reporter())
    header = enroll.enroll(dataclasses.replace(request_of_voice, until_s=5.7), Listener().reporter())
    assert header.prompt_duration_s == pytest.approx(5.2, abs=0.15)
    assert header.source_duration_s == pytest.approx(18.9)


@pytest.mark.parametrize("file", [speaker.FILE, speech_tokenizer.FILE])
def test_a_missing_network_is_told_before_anything_else(file: str, request_of_voice: Request) -> None:
    (Path(request_of_voice.model_dir) / file).unlink()
    told = Listener()
    with pytest.raises(ModelError, match=f"{file} is missing"):
        enroll.enroll(request_of_voice, told.reporter())
    assert told.findings == []


def told_by_process(
    request: Request, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, list[dict[str, object]]]:
    """The process's exit code and the messages that it printed."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(dataclasses.asdict(request))))
    code = enroll.main()
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_the_process_tells_how_it_goes_in_json_lines(
    request_of_voice: Request, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, messages = told_by_process(request_of_voice, monkeypatch, capsys)
    assert code == 0
    kinds = [next(iter(message)) for message in messages]
    assert kinds == ["finding"] * 8 + ["progress", "voice"]


def test_the_process_tells_why_no_voice_came_of_it(
    request_of_voice: Request, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = dataclasses.replace(request_of_voice, text=" ")
    code, messages = told_by_process(asked, monkeypatch, capsys)
    assert code == 1
    assert messages == [
        {"problems": ["the transcript is empty: write word for word what is said in the recording"]}
    ]
