"""The two ways to run it by hand: `run --greet` as `./run.sh` does, and one sentence with `--once`."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.audio.alsa import AlsaFileDevice
from tests.mqtt.mosquitto import Mosquitto, free_port
from tests.system.device import models_shared_with, wait_for


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a configuration for the embedded broker on a free port, and a sound card of files."""
    card = AlsaFileDevice(tmp_path)
    card.create()
    config = {
        "mqtt": {"port": free_port(), "node": "test"},
        "outputs": {"path": str(tmp_path / "outputs")},
        "state": {"path": str(models_shared_with(tmp_path / "state"))},
    }
    (tmp_path / "cosyvoiced.yaml").write_text(yaml.safe_dump(config))
    return tmp_path


def command(place: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "daemon.cli", *arguments, "--config", str(place / "cosyvoiced.yaml")]


def run(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **AlsaFileDevice(place).env}
    return subprocess.run(
        command(place, *arguments), capture_output=True, text=True, timeout=100, env=environment
    )


@pytest.mark.parametrize("text", ["洗衣机已经洗好了", "Dinner is ready", "请关掉 bedroom light 再睡觉"])
def test_once_says_one_thing_and_prints_its_result(place: Path, text: str) -> None:
    done = run(place, "run", "--once", text)
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert (result["event"], result["text"]) == ("finished", text)
    assert Path(result["wav_path"]).is_file()
    assert AlsaFileDevice(place).recordings()


def test_once_with_nothing_to_say_is_one_clear_line(place: Path) -> None:
    done = run(place, "run", "--once", "...")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "nothing_to_say" in done.stderr
    assert json.loads(done.stdout)["code"] == "nothing_to_say"


def test_say_local_needs_no_broker(place: Path) -> None:
    done = run(place, "say", "--local", "--style", "slow", "Nobody else is needed")
    assert done.returncode == 0
    assert json.loads(done.stdout)["style"] == "slow"


def test_a_broker_that_is_there_already_is_used(place: Path) -> None:
    broker = Mosquitto(place)
    config = yaml.safe_load((place / "cosyvoiced.yaml").read_text())
    broker.port = config["mqtt"]["port"]
    broker.start()
    try:
        done = run(place, "run", "--once", "Hello there")
    finally:
        broker.stop()
    assert (done.returncode, json.loads(done.stdout)["event"]) == (0, "finished")


def test_a_port_that_something_else_holds_is_one_clear_line(place: Path) -> None:
    config = yaml.safe_load((place / "cosyvoiced.yaml").read_text())
    with socket.create_server(("127.0.0.1", config["mqtt"]["port"])):
        done = run(place, "run", "--once", "Hello there")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "is taken by something that is not an MQTT broker" in done.stderr


def test_it_greets_and_shows_the_way_and_ends_on_ctrl_c(place: Path) -> None:
    environment = {**os.environ, **AlsaFileDevice(place).env}
    log = place / "log"
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command(place, "run", "--greet"), stdout=output, stderr=output, env=environment
        ) as daemon,
    ):
        wait_for(lambda: "mosquitto_pub" in log.read_text(), "the greeting", 60)
        said = run(place, "run", "--once", "While it runs already")
        daemon.send_signal(signal.SIGINT)
        assert daemon.wait(20) == 0
    shown = log.read_text()
    assert '"text": "你好' in shown
    assert "finished" in shown
    assert json.loads(said.stdout)["text"] == "While it runs already"
