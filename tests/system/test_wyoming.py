"""The Wyoming server of a whole device, driven by the library's own client over a real socket."""

import asyncio
import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from wyoming.error import Error
from wyoming.event import Event
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from wyoming.tts import Synthesize, SynthesizeChunk

from daemon.wyoming import server
from daemon.wyoming.script import MAX_CHARACTERS
from tests.mqtt.mosquitto import free_port
from tests.system.conftest import StartDevice
from tests.system.device import OWN, Device, wait_for
from tests.watch.trees import plant, zone
from tests.wyoming.client import Client, connected

PORT = free_port()
LONG = "The quick brown fox jumps over the lazy dog, again and again, until the sun has set. " * 2
MANY = " ".join(f"Number {n} of many, many more." for n in range(300))


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Device]:
    with Device(tmp_path_factory.mktemp("device"), wyoming={"enabled": True, "port": PORT}) as device:
        device.final(device.say({"text": "Warm", "output": "file"}))
        yield device


async def error_code(client: Client) -> str | None:
    """Of the next event, after which the server closes."""
    event = await client.event()
    assert event is not None
    assert await client.event() is None
    return Error.from_event(event).code


async def test_it_describes_itself_although_it_speaks(device: Device) -> None:
    async with connected(PORT) as client:
        await client.send(Synthesize(LONG))
        await client.send(Describe())
        event = await client.event()
        assert event is not None
        (program,) = Info.from_event(event).tts
        assert {"heart", "zf_xiaoyi"} <= {voice.name for voice in program.voices}
        assert (await client.answer()).error is None


async def test_it_answers_a_ping_and_ignores_what_is_for_others(device: Device) -> None:
    async with connected(PORT) as client:
        await client._connection.write_event(Event("transcribe", {"x": 1}, b"sound"))
        await client.send(Ping("there?"))
        event = await client.event()
        assert event is not None
        assert Pong.from_event(event).text == "there?"


async def test_one_connection_asks_again_and_again(device: Device) -> None:
    async with connected(PORT) as client:
        english = await client.say("Dinner is ready.", name="heart")
        chinese = await client.say("晚饭好了。")
        again = await client.say("Dinner is ready.", name="heart")
    assert english.sample_rate_hz == 24000
    assert 0.5 < english.duration_s < 3
    assert 0.5 < chinese.duration_s < 3
    assert again.pcm == english.pcm


async def test_an_announcement_and_a_client_share_their_phrases(device: Device) -> None:
    text = "The post has come."
    announced = device.final(device.say({"text": text, "output": "file"}))
    async with connected(PORT) as client:
        heard = await client.say(text)
    assert heard.duration_s == pytest.approx(announced["duration_s"], abs=0.01)
    assert device.final(device.say({"text": text, "output": "file"}))["cached"]


async def test_an_unknown_voice_gives_way_to_the_default_of_the_language(device: Device) -> None:
    async with connected(PORT) as client:
        asked = await client.say("The window is open.", name="no-such-voice")
        default = await client.say("The window is open.", language="en-GB")
    assert asked == default


async def test_sound_comes_before_the_text_has_ended(device: Device) -> None:
    async with connected(PORT) as client:
        await client.start_stream(["好的，", "客厅的灯已经", "打开了。", "现在"])
        event = await client.event()
        assert event is not None
        assert event.type == "audio-start"
        for chunk in ("是晚上", "八点。"):
            await client.send(SynthesizeChunk(chunk))
        await client.end_stream("好的，客厅的灯已经打开了。现在是晚上八点。")
        heard = await client.answer(streamed=True)
        whole = await client.say("Good night.")
    assert heard.error is None
    assert whole.error is None


async def test_clients_at_the_same_time_are_all_heard(device: Device) -> None:
    async def ask(number: int) -> float:
        async with connected(PORT) as client:
            return (await client.say(f"This is number {number}.")).duration_s

    announced = device.say({"text": "An announcement between them", "output": "file"})
    durations = await asyncio.gather(*(ask(number) for number in range(5)))
    assert min(durations) > 0.5
    assert device.final(announced)["event"] == "finished"


async def test_a_client_that_leaves_takes_its_request_with_it(device: Device) -> None:
    async with connected(PORT) as client:
        await client.send(Synthesize(MANY))
        assert (await client.event()) is not None
    began_s = time.monotonic()
    assert device.final(device.say({"text": "After them", "output": "file"}))["event"] == "finished"
    assert time.monotonic() - began_s < 10


@pytest.mark.parametrize("text", ["", "😀", "unavailable"])
async def test_nothing_to_say_is_an_error_that_ends_the_connection(device: Device, text: str) -> None:
    async with connected(PORT) as client:
        await client.send(Synthesize(text))
        assert await error_code(client) == "nothing_to_say"


async def test_too_much_text_is_an_error(device: Device) -> None:
    async with connected(PORT) as client:
        await client.send(Synthesize("x" * (MAX_CHARACTERS + 1)))
        assert await error_code(client) == "text_too_long"


async def test_too_many_requests_are_an_error(device: Device) -> None:
    async with connected(PORT) as client:
        for _ in range(10):
            await client.send(Synthesize(MANY))
        assert (await client.answer()).error == "queue_full"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"GET / HTTP/1.1\r\nHost: speaker\r\n\r\n", "bad_json"),
        (b'{"type": "synthesize", "data": {"text": 5}}\n', "bad_json"),
        (b"\x00" * 100_000, "payload_too_large"),
        (b'{"type": "synthesize", "data_length": 9999999999}\n', "payload_too_large"),
    ],
)
async def test_garbage_ends_one_connection_alone(device: Device, data: bytes, code: str) -> None:
    async with connected(PORT) as other, connected(PORT) as client:
        writer = client._connection._writer
        assert writer is not None
        writer.write(data)
        assert await error_code(client) == code
        assert (await other.say("Still here.")).error is None


async def test_clients_beyond_the_limit_are_told_so(device: Device) -> None:
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(server.MAX_CONNECTIONS):
            client = await stack.enter_async_context(connected(PORT))
            await client.send(Ping())
            assert await client.event() is not None
        beyond = await stack.enter_async_context(connected(PORT))
        assert await error_code(beyond) == "queue_full"
    async with connected(PORT) as client:
        assert (await client.say("Room again.")).error is None


async def test_a_device_that_is_too_hot_says_so(tmp_path: Path, start_device: StartDevice) -> None:
    root, port = tmp_path / "root", free_port()
    cool = {"proc/meminfo": "MemTotal: 8388608 kB\nMemAvailable: 8000000 kB\n"}
    plant(root, cool | zone(0, "cpu-thermal", "50000\n"))
    device = start_device(
        watch={"root": str(root), "interval_s": 0.2}, wyoming={"enabled": True, "port": port}
    )
    async with connected(port) as client:
        known = await client.say("The kettle boils.")
        plant(root, zone(0, "cpu-thermal", "95000\n"))
        wait_for(lambda: device.ears.state().get("throttle") == "critical", "critical")
        assert await client.say("The kettle boils.") == known
        await client.send(Synthesize("This is new."))
        assert await error_code(client) == "throttled"


def test_a_taken_port_is_one_sentence(tmp_path: Path, device: Device) -> None:
    config = {**device.config, "state": {"path": str(tmp_path / "state")}}
    config["mqtt"] = {**device.config["mqtt"], "node": "second"}
    path = tmp_path / "cosyvoiced.yaml"
    path.write_text(yaml.safe_dump(config))
    second = subprocess.run(
        [sys.executable, "-m", "daemon.cli", "run", "--config", str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert second.returncode == 1
    assert f"wyoming: 127.0.0.1:{PORT} is taken; set wyoming.port to a free port" in second.stderr
    assert "Traceback" not in second.stderr


def test_it_ends_with_the_daemon_and_says_who_may_use_it(start_device: StartDevice) -> None:
    port = free_port()
    device = start_device(wyoming={"enabled": True, "host": "0.0.0.0", "port": port, "zeroconf": True})
    assert "wyoming.host is 0.0.0.0: anyone in this network can use the voices" in device.log
    with socket.create_connection(("127.0.0.1", port)) as client:
        assert device.stop() == 0
        client.settimeout(10)
        with contextlib.suppress(ConnectionResetError):
            assert client.recv(1) == b""
    assert "Traceback" not in device.log
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


def test_doctor_hears_it(device: Device) -> None:
    doctor = subprocess.run(
        [sys.executable, "-m", "daemon.cli", "doctor", "--config", str(device.config_path)],
        capture_output=True,
        text=True,
        check=False,
        env=device.card.env | {"PATH": "/usr/bin:/bin"},
        timeout=60,
    )
    assert f"ok   wyoming   cosyvoiced answers at 127.0.0.1:{PORT}" in doctor.stdout
    assert OWN in device.log
