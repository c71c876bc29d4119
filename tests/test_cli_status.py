"""`cosyvoiced status` as a person uses it, at a real broker with what a daemon left there."""

import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from daemon import cli
from daemon.errors import Code
from daemon.mqtt.messages import Event, State
from tests.mqtt.mosquitto import Mosquitto, free_port
from tests.mqtt.peer import Peer
from tests.watch.states import a_report, a_result, a_state, published
from tests.watch.test_prometheus import value

Leave = Callable[..., None]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosquitto]:
    broker = Mosquitto(tmp_path_factory.mktemp("mosquitto"))
    broker.start()
    yield broker
    broker.stop()


@pytest.fixture
def node() -> str:
    return f"n{uuid.uuid4().hex[:8]}"


@pytest.fixture
def config(tmp_path: Path, broker: Mosquitto, node: str) -> Path:
    path = tmp_path / "c.yaml"
    path.write_text(f"mqtt: {{broker: external, port: {broker.port}, node: {node}}}\n")
    return path


@pytest.fixture
def leave(broker: Mosquitto, node: str) -> Leave:
    """Publishes what a daemon leaves at its broker."""

    def leave(availability: bytes | None, state: State | bytes | None) -> None:
        payload = published(state) if isinstance(state, State) else state
        with Peer(broker.port) as peer:
            for topic, message in (("availability", availability), ("state", payload)):
                if message is not None:
                    peer.publish(f"cosyvoice/{node}/{topic}", message, retain=True)

    return leave


class Shown:
    """Runs the command; its exit code and what it printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str], config: Path, *arguments: str) -> None:
        self.code = cli.main(["status", "--config", str(config), *arguments])
        self.out, self.err = capsys.readouterr()

    def line(self, part: str) -> str:
        (found,) = [line for line in self.out.splitlines() if line.startswith(f"{part} ")]
        return found.removeprefix(part).strip()


Capture = pytest.CaptureFixture[str]


def test_an_online_daemon_is_told_of_line_by_line(
    leave: Leave, config: Path, node: str, capsys: Capture
) -> None:
    leave(b"online", a_state(status="speaking", speaking_id="door"))
    shown = Shown(capsys, config)
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.splitlines()[0] == f"cosyvoice/{node} is online"
    for part, expected in {
        "PROBLEM": "the disk is nearly full",
        "doing": "speaking 'door'",
        "engine": "builtin",
        "throttle": "hot: the processor has 81.2 °C",
        "heat": "81.2 °C",
        "power": "well",
        "memory": "1.5 GiB free, swap 2.0 GiB free, 2.5 % of the time lost to waiting for it",
        "worker": "300 MiB, 2 replaced after a failure, 1 replaced for its size",
        "disk": "10.0 GiB free, the WAV files take 12 MiB",
        "queue": "2 waiting",
        "cache": "50.0 % of the announcements came out of it",
        "throttled": "warm 5 min, hot 1 min 6 s",
        "uptime": "3 d 4 h",
        "version": "1.2.3",
    }.items():
        assert shown.line(part) == expected
    assert shown.line("success").startswith("98.4 %: 246 finished, 3 failed, 1 expired")
    assert shown.line("latency").startswith("0.42 s in the middle, 95 % within 1.20 s")
    assert shown.line("last").startswith("finished 2027-01-1")


def test_the_last_failure_says_why(leave: Leave, config: Path, capsys: Capture) -> None:
    last = a_result(Event.FAILED, code=Code.AUDIO_DEVICE, message="the card is gone", text="Dinner")
    leave(b"online", a_state(last=last))
    assert Shown(capsys, config).line("last").endswith("'Dinner'; audio_device: the card is gone")


def test_a_fresh_daemon_without_sensors_knows_little_and_says_so(
    leave: Leave, config: Path, capsys: Capture
) -> None:
    nothing = a_report(
        results=dict.fromkeys(a_report().results, 0),
        failures={}, rejections={}, success_rate=None, latency=None, cache_hit_rate=None,
        throttled_s={"warm": 0.0, "hot": 0.0, "critical": 0.0},
    )  # fmt: skip
    leave(b"online", published(a_state(temperature_c=None, undervoltage=None, last=None, metrics=nothing)))
    shown = Shown(capsys, config)
    assert (shown.line("heat"), shown.line("power")) == ("unknown", "unknown")
    assert shown.line("success") == "nothing was tried yet"
    assert shown.line("latency") == "nothing was heard yet"
    assert shown.line("throttled") == "never"


def test_an_offline_daemon_that_was_stopped(leave: Leave, config: Path, node: str, capsys: Capture) -> None:
    leave(b"offline", a_state(status="stopping"))
    shown = Shown(capsys, config)
    assert shown.code == cli.EXIT_FAILED
    assert shown.out.startswith(f"cosyvoice/{node} is offline: it was stopped\n")
    assert "not known since when" in shown.out
    assert shown.line("version") == "1.2.3"


def test_an_offline_daemon_that_broke_off(leave: Leave, config: Path, capsys: Capture) -> None:
    leave(b"offline", a_state(status="idle"))
    shown = Shown(capsys, config)
    assert (shown.code, shown.err) == (cli.EXIT_FAILED, "")
    assert "without a word" in shown.out.splitlines()[0]


def test_a_daemon_that_never_was_is_no_answer(config: Path, node: str, capsys: Capture) -> None:
    shown = Shown(capsys, config)
    assert (shown.code, shown.out) == (cli.EXIT_NO_ANSWER, "")
    assert f"no cosyvoiced was ever online as cosyvoice/{node}" in shown.err
    assert len(shown.err.splitlines()) == 1


def test_no_broker_is_no_answer_and_down_for_prometheus(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(f"mqtt: {{broker: external, port: {free_port()}}}\n")
    shown = Shown(capsys, path, "--prometheus")
    assert shown.code == cli.EXIT_NO_ANSWER
    assert value(shown.out, "up") == 0
    assert len(shown.err.splitlines()) == 1
    assert Shown(capsys, path).out == ""


def test_without_the_broker_that_the_daemon_brings_there_is_no_daemon(
    tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(f"mqtt: {{broker: embedded, port: {free_port()}}}\n")
    shown = Shown(capsys, path)
    assert shown.code == cli.EXIT_NO_ANSWER
    assert "so it does not run" in shown.err


def test_prometheus_text_of_a_daemon_that_is_there_or_not(
    leave: Leave, config: Path, capsys: Capture
) -> None:
    leave(b"online", a_state())
    shown = Shown(capsys, config, "--prometheus")
    assert (shown.code, value(shown.out, "up"), value(shown.out, "queue_length")) == (0, 1, 2)
    leave(b"offline", None)
    shown = Shown(capsys, config, "--prometheus")
    assert (shown.code, value(shown.out, "up")) == (cli.EXIT_FAILED, 0)
    assert value(shown.out, "queue_length") is None


def test_json_is_what_the_daemon_published(leave: Leave, config: Path, node: str, capsys: Capture) -> None:
    leave(b"online", published(a_state(), new_field={"in": "a later version"}))
    shown = Shown(capsys, config, "--json")
    told = json.loads(shown.out)
    assert (shown.code, told["device"], told["online"]) == (0, f"cosyvoice/{node}", True)
    assert told["state"]["new_field"] == {"in": "a later version"}
    assert told["state"]["metrics"]["success_rate"] == 0.984


def test_other_versions_of_the_daemon_can_be_read(leave: Leave, config: Path, capsys: Capture) -> None:
    older = (
        "problems",
        "metrics",
        "undervoltage",
        "memory_stall_percent",
        "swap_free_bytes",
        "disk_free_bytes",
    )
    leave(b"online", published(a_state(), without=older))
    shown = Shown(capsys, config)
    assert shown.code == 0
    assert (shown.line("success"), shown.line("power"), shown.line("heat")) == (
        "unknown",
        "unknown",
        "81.2 °C",
    )
    newer = {"event": "sung", "id": "one", "at": "now"}
    leave(b"online", published(a_state(), last=newer, metrics={"all": "new"}, problems=7, shade="blue"))
    shown = Shown(capsys, config)
    assert shown.code == 0
    assert (shown.line("last"), shown.line("latency")) == ("nothing is known of it", "unknown")


@pytest.mark.parametrize("garbage", [b"\xff\x00", b"[]", b"{", b"7", b'{"status": "idle"}'])
def test_a_state_that_is_none_is_one_line(
    garbage: bytes, leave: Leave, config: Path, capsys: Capture
) -> None:
    leave(b"online", garbage)
    shown = Shown(capsys, config)
    assert (shown.code, shown.out) == (cli.EXIT_FAILED, "")
    assert shown.err.startswith("cosyvoiced: the daemon's state cannot be read: ")
    assert len(shown.err.splitlines()) == 1


def test_nothing_that_was_published_can_drive_the_terminal(
    leave: Leave, config: Path, capsys: Capture
) -> None:
    last = a_result(text="\x1b[2J\nonline", at="never")
    leave(b"online", a_state(throttle_reason="\x1b]0;owned\x07", last=last))
    shown = Shown(capsys, config)
    assert "\x1b" not in shown.out
    assert shown.line("last") == r"finished never '\x1b[2J\nonline'"


def test_an_online_daemon_without_a_state_is_online(leave: Leave, config: Path, capsys: Capture) -> None:
    leave(b"online", None)
    shown = Shown(capsys, config, "--timeout", "0.5")
    assert (shown.code, "no state yet" in shown.out) == (0, True)
    assert value(Shown(capsys, config, "--prometheus", "--timeout", "0.5").out, "up") == 1


def test_a_long_text_leaves_room_for_its_error(leave: Leave, config: Path, capsys: Capture) -> None:
    leave(b"online", a_state(last=a_result(Event.EXPIRED, text="长" * 300, message="not begun within 120 s")))
    last = Shown(capsys, config).line("last")
    assert last.endswith("长...'; not begun within 120 s")
    assert last.count("长") == 60
