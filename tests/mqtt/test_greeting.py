"""The first packet of a client of the embedded broker."""

import asyncio

import pytest
from amqtt.errors import MQTTError

from daemon.mqtt.greeting import Replay, is_mqtt_3_1_1, read_connect
from tests.mqtt.conftest import run

MQTT_3_1_1 = b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x0a\x00\x01x"
MQTT_5 = b"\x10\x0e\x00\x04MQTT\x05\x02\x00\x0a\x00\x00\x01x"
LONG = b"\x10\x8c\x02\x00\x04MQTT\x04\x02\x00\x0a" + (256).to_bytes(2, "big") + b"x" * 256


def reader_of(data: bytes) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    reader.feed_eof()
    return reader


@pytest.mark.parametrize("connect", [MQTT_3_1_1, MQTT_5, LONG])
def test_the_connect_packet_is_read_and_nothing_after_it(connect: bytes) -> None:
    async def test() -> None:
        reader = reader_of(connect + b"next")
        assert await read_connect(reader) == connect
        assert await reader.read() == b"next"

    run(test())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x10",
        MQTT_3_1_1[:-1],
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x10\xff\xff\xff\x7f",
        b"\x10\x80\x80\x80\x80\x80\x01",
    ],
    ids=["nothing", "a beginning", "all but a byte", "a web browser", "too long", "a length without end"],
)
def test_what_is_no_connect_packet_is_refused(data: bytes) -> None:
    async def test() -> None:
        with pytest.raises(EOFError):
            await read_connect(reader_of(data))

    run(test())


def test_only_mqtt_3_1_1_is_taken() -> None:
    assert is_mqtt_3_1_1(MQTT_3_1_1)
    assert is_mqtt_3_1_1(LONG)
    assert not is_mqtt_3_1_1(MQTT_5)
    assert not is_mqtt_3_1_1(b"\x10\x0f\x00\x06MQIsdp\x03\x02\x00\x0a\x00\x01x")


def test_amqtt_reads_the_packet_first_and_then_the_connection() -> None:
    async def test() -> None:
        replay = Replay(b"abcd", reader_of(b"efgh"))
        assert [await replay.read(1), await replay.read(3), await replay.read(2)] == [b"a", b"bcd", b"ef"]
        with pytest.raises(MQTTError, match="shorter than it says"):
            await Replay(b"abcd", reader_of(b"efgh")).read(5)

    run(test())
