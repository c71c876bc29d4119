"""The command line: one line and an exit code for everything that goes wrong."""

import subprocess
import sys
from pathlib import Path

import pytest

from daemon import cli

ROOT = Path(__file__).parents[1]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "daemon.cli", *arguments], capture_output=True, text=True, timeout=50, cwd=ROOT
    )


def test_check_config_is_content_with_the_shipped_file() -> None:
    done = run("check-config")
    assert (done.returncode, done.stderr) == (0, "")
    assert "all is well" in done.stdout


def test_check_config_tells_every_fault_on_a_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("speaker: {volum: 3}\nengine: bultin\n")
    done = run("check-config", "--config", str(path))
    assert done.returncode == cli.EXIT_CONFIG
    assert len(done.stderr.splitlines()) == 2
    assert "did you mean 'volume'?" in done.stderr


@pytest.mark.parametrize("command", [["run"], ["say", "hi"], ["voices"], ["check-config"]])
def test_a_missing_configuration_is_one_line(command: list[str], tmp_path: Path) -> None:
    done = run(*command, "--config", str(tmp_path / "none.yaml"))
    assert done.returncode == cli.EXIT_CONFIG
    assert len(done.stderr.splitlines()) == 1


def test_say_without_a_broker_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("mqtt: {port: 9, broker: external}\n")
    done = run("say", "hello", "--config", str(path))
    assert done.returncode == cli.EXIT_NO_ANSWER
    assert done.stderr.startswith("cosyvoiced: no MQTT broker answers at 127.0.0.1:9")
    assert len(done.stderr.splitlines()) == 1


def test_an_engine_without_its_model_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("engine: cosyvoice3\n")
    done = run("check-config", "--config", str(path))
    assert done.returncode == cli.EXIT_CONFIG
    assert "engine: cosyvoice3 cannot be used yet: " in done.stderr
    assert "cosyvoiced model prepare" in done.stderr or "[cosyvoice3]" in done.stderr


def test_voices_are_listed_for_people_and_programs() -> None:
    assert "zf_xiaoyi" in run("voices", "list").stdout
    assert '"languages"' in run("voices", "list", "--json").stdout


def test_doctor_looks_at_everything(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(f"mqtt: {{port: 9}}\nstate: {{path: {tmp_path}/s}}\noutputs: {{path: {tmp_path}/o}}\n")
    done = run("doctor", "--config", str(path))
    for part in ("config", "broker", "speaker", "engine", "heat", "memory", "disk"):
        assert f" {part} " in done.stdout, part
    assert done.returncode == 0


def test_doctor_finds_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("mqtt: {port: 9, broker: external}\nspeaker: {device: no such card}\n")
    done = run("doctor", "--config", str(path))
    assert done.returncode == 1
    assert "check mqtt.host" in done.stdout
    assert "BAD  speaker" in done.stdout


def test_a_wrong_command_line_is_2() -> None:
    assert run("sai").returncode == 2
