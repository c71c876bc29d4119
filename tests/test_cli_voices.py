"""`cosyvoiced voices` as a person uses it."""

import json
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import soundfile

from cosyvoice.voices import speaker, speech_tokenizer
from cosyvoice.voices.store import VoiceStore
from cosyvoice.weights import random_onnx
from daemon import cli
from daemon.commands import voice_add
from tests.test_cli import ROOT
from tests.voices.signals import RATE_HZ, joined, noise, silence, speech
from tests.voices.voice_files import written_voice

TEXT = "今天天气真好，我们一起出去走走，顺便买水果。"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration with networks for enrolment, and a recording beside it."""
    model_dir = tmp_path / "model"
    model_dir.mkdir()
    random_onnx.write_speaker_encoder(model_dir / speaker.FILE, seed=0)
    random_onnx.write_speech_tokenizer(model_dir / speech_tokenizer.FILE, seed=0)
    sound = joined(silence(0.8), speech(2.5), silence(0.4), speech(2.0), silence(0.6)) + noise(6.3, -65)
    soundfile.write(tmp_path / "clip.wav", sound, RATE_HZ)
    path = tmp_path / "c.yaml"
    path.write_text(
        f"state: {{path: {tmp_path}/s}}\noutputs: {{path: {tmp_path}/o}}\n"
        f"cosyvoice3: {{model: {model_dir}}}\nspeaker: {{device: none}}\n"
    )
    return path


def run(config: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "daemon.cli", "voices", "--config", str(config), *arguments],
        capture_output=True,
        text=True,
        timeout=55,
        cwd=ROOT,
    )


def store(config: Path) -> VoiceStore:
    folder = VoiceStore(config.parent / "s" / "voices")
    folder.make_folder()
    return folder


def test_a_voice_is_added_listed_shown_and_removed(config: Path) -> None:
    added = run(config, "add", "妈妈", str(config.parent / "clip.wav"), "--text", TEXT, "--gender", "f")
    assert (added.returncode, added.stderr) == (0, "")
    assert "somebody who has agreed" in added.stdout.splitlines()[0]
    assert "ok   length" in added.stdout
    assert "Added '妈妈'" in added.stdout.splitlines()[-1]
    listed = run(config, "list")
    assert "妈妈" in listed.stdout
    assert "cannot speak yet" in listed.stdout  # there is no prepared model
    shown = run(config, "show", "妈妈")
    assert TEXT in shown.stdout
    assert "5.2 s of a recording of 6.3 s" in shown.stdout
    removed = run(config, "remove", "妈妈")
    assert removed.returncode == 0
    assert list(store(config).folder.iterdir()) == []


def test_a_name_is_not_taken_twice_but_by_wish(config: Path) -> None:
    written_voice(store(config).path("mama"))
    arguments = ("add", "mama", str(config.parent / "clip.wav"), "--text", TEXT)
    again = run(config, *arguments)
    assert again.returncode == cli.EXIT_FAILED
    assert again.stderr == "cosyvoiced: there is a voice 'mama' already; remove it first, or add --replace\n"
    assert run(config, *arguments, "--replace").returncode == 0
    assert store(config).header("mama").transcript == TEXT


@pytest.mark.parametrize("name", ["heart", "cantonese", "广东话", "auto", "../x"])
def test_a_name_that_means_something_else_is_refused(name: str, config: Path) -> None:
    done = run(config, "add", name, str(config.parent / "clip.wav"), "--text", TEXT)
    assert done.returncode == cli.EXIT_FAILED
    assert len(done.stderr.splitlines()) == 1


def test_what_is_wrong_with_a_recording_is_said_with_what_to_do(config: Path) -> None:
    soundfile.write(config.parent / "clip.wav", speech(1.5), RATE_HZ)
    done = run(config, "add", "mama", str(config.parent / "clip.wav"), "--text", "今天天气真好")
    assert done.returncode == cli.EXIT_FAILED
    assert "BAD  length" in done.stdout
    assert "-> record one or two whole sentences, 3 to 10 s" in done.stdout
    assert "not added because of length" in done.stderr


@pytest.mark.parametrize("action", ["show", "remove", "test"])
def test_a_voice_that_is_not_there_is_one_line(action: str, config: Path) -> None:
    done = run(config, action, "nobody")
    assert done.returncode == cli.EXIT_FAILED
    assert done.stderr == "cosyvoiced: there is no voice 'nobody'\n"


def test_a_built_in_voice_cannot_be_removed_but_be_shown(config: Path) -> None:
    assert run(config, "remove", "heart").stderr.startswith("cosyvoiced: 'heart' is a built-in voice")
    assert "American" in run(config, "show", "heart").stdout


def test_a_voice_is_removed_by_its_exact_name_only(config: Path) -> None:
    path = written_voice(store(config).path("mama"))
    assert run(config, "remove", "Mama").stderr.endswith("write the name as it is, 'mama'\n")
    assert path.exists()


def test_an_enrolled_voice_without_a_model_says_what_is_missing(config: Path) -> None:
    written_voice(store(config).path("mama"))
    done = run(config, "test", "mama")
    assert done.returncode == cli.EXIT_FAILED
    assert "'mama' cannot speak yet: " in done.stderr


@pytest.mark.system
def test_a_voice_is_tested_by_the_whole_real_path(config: Path) -> None:
    done = run(config, "test", "heart", "It works.")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["voice"] == "heart"


def test_programs_read_which_voices_work(config: Path) -> None:
    written_voice(store(config).path("mama"))
    voices = {voice["name"]: voice for voice in json.loads(run(config, "list", "--json").stdout)}
    assert voices["heart"]["works"] is True
    assert (voices["mama"]["engine"], voices["mama"]["works"]) == ("cosyvoice3", False)
    assert json.loads(run(config, "show", "mama", "--json").stdout)["transcript"]


def test_a_damaged_voice_is_told_beside_the_others(config: Path) -> None:
    store(config).path("mama").write_bytes(b"nothing")
    done = run(config, "list")
    assert done.returncode == 0
    assert "heart" in done.stdout
    assert "is no voice, or damaged" in done.stderr


def test_a_folder_that_cannot_be_read_hides_no_built_in_voice(config: Path) -> None:
    store(config).folder.rmdir()
    store_path = config.parent / "s" / "voices"
    store_path.write_text("a file in the way")
    done = run(config, "list")
    assert "heart" in done.stdout
    assert "cannot be read" in done.stderr


@pytest.fixture
def slow_enrolment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A process in the place of the enrolment's, which writes its id and then works for ever."""
    (tmp_path / "slow_enrolment.py").write_text(
        "import os, pathlib, time\n"
        "pathlib.Path(os.environ['PID_FILE']).write_text(str(os.getpid()))\n"
        "time.sleep(1000)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PID_FILE", str(tmp_path / "pid"))
    monkeypatch.setattr(voice_add, "MODULE", "slow_enrolment")
    return tmp_path / "pid"


def test_an_enrolment_that_hangs_is_given_up(
    config: Path, slow_enrolment: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(voice_add, "DEADLINE_S", 1.0)
    code = cli.main(["voices", "add", "mama", "clip.wav", "--text", TEXT, "--config", str(config)])
    assert code == cli.EXIT_FAILED
    assert "took more than 1 s, and was given up" in capsys.readouterr().err
    assert not psutil.pid_exists(int(slow_enrolment.read_text()))


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("import os; os.kill(os.getpid(), 9)", "most likely for want of memory"),
        ("raise RuntimeError('a broken library')", "broke off (1): RuntimeError: a broken library"),
        ("pass", "broke off (0): no reason was given"),
    ],
)
def test_an_enrolment_that_dies_is_one_line(
    program: str,
    reason: str,
    config: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "dying_enrolment.py").write_text(program)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(voice_add, "MODULE", "dying_enrolment")
    code = cli.main(["voices", "add", "mama", "clip.wav", "--text", TEXT, "--config", str(config)])
    assert code == cli.EXIT_FAILED
    complaint = capsys.readouterr().err
    assert reason in complaint
    assert len(complaint.splitlines()) == 1
