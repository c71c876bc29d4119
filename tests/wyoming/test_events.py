"""What a stranger may send: every fault is one error, every length is bounded."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wyoming.event import Event
from wyoming.tts import Synthesize, SynthesizeVoice

from daemon.errors import AnnouncementError
from daemon.wyoming import events, messages
from daemon.wyoming.messages import Hint


async def read(data: bytes) -> Event | None:
    reader = asyncio.StreamReader(limit=events.MAX_LINE_BYTES)
    reader.feed_data(data)
    reader.feed_eof()
    return await events.read_event(reader)


def line(**fields: Any) -> bytes:
    return json.dumps(fields).encode() + b"\n"


async def test_data_is_taken_from_the_line_and_from_behind_it() -> None:
    data = b'{"text": "hello"}'
    event = await read(line(type="synthesize", data={"voice": None}, data_length=len(data)) + data)
    assert event == Event("synthesize", {"voice": None, "text": "hello"})


async def test_a_payload_is_skipped() -> None:
    reader = asyncio.StreamReader()
    reader.feed_data(line(type="audio-chunk", payload_length=200_000) + bytes(200_000) + line(type="ping"))
    first, second = await events.read_event(reader), await events.read_event(reader)
    assert (first, second) == (Event("audio-chunk"), Event("ping"))


@pytest.mark.parametrize("data", [b"", b'{"type"', line(type="x", data_length=9) + b"{}"])
async def test_a_client_that_leaves_is_no_fault(data: bytes) -> None:
    assert await read(data) is None


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"GET / HTTP/1.1\r\n", "bad_json"),
        (b"\xff\xfe\n", "bad_json"),
        (b"[1]\n", "bad_json"),
        (b"[" * 50_000 + b"\n", "bad_json"),
        (line(data={}), "bad_json"),
        (line(type=5), "bad_json"),
        (line(type="x", data=[]), "bad_json"),
        (line(type="x", data_length=-1), "bad_json"),
        (line(type="x", data_length="9"), "bad_json"),
        (line(type="x", data_length=3) + b"nil", "bad_json"),
        (line(type="x", data_length=2) + b"[]", "bad_json"),
        (line(type="x", data_length=events.MAX_DATA_BYTES + 1), "payload_too_large"),
        (line(type="x", payload_length=events.MAX_PAYLOAD_BYTES + 1), "payload_too_large"),
        (b"x" * (events.MAX_LINE_BYTES + 1), "payload_too_large"),
    ],
)
async def test_garbage_is_one_error(data: bytes, code: str) -> None:
    with pytest.raises(events.EventError) as error:
        await read(data)
    assert error.value.code == code


@given(st.binary(max_size=200))
def test_any_bytes_are_an_event_an_end_or_an_error(data: bytes) -> None:
    try:
        event = asyncio.run(read(data))
    except events.EventError:
        return
    assert event is None or isinstance(event.type, str)


def test_messages_are_read_as_the_library_writes_them() -> None:
    event = Synthesize("hello", SynthesizeVoice(name="heart", speaker="x")).event()
    assert messages.parse(event) == messages.Synthesize("hello", Hint(name="heart", speaker="x"))
    assert messages.parse(Event("transcribe")) is None


@pytest.mark.parametrize("data", [{}, {"text": 5}, {"text": "x", "voice": "heart"}])
def test_a_field_of_another_type_is_told(data: dict[str, Any]) -> None:
    with pytest.raises(AnnouncementError, match="synthesize: ") as error:
        messages.parse(Event("synthesize", data))
    assert error.value.code == "bad_json"
