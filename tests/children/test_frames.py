import asyncio
import io

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.children.frames import MAX_FRAME_BYTES, Codec, Frame, FrameError, Ready


class Note(Frame, frozen=True):
    text: str
    data: bytes = b""
    tags: tuple[str, ...] = ()


class Other(Frame, frozen=True):
    number: int


CODEC: Codec[Ready | Note] = Codec(Ready | Note)
NOTES = st.builds(Note, st.text(), st.binary(), st.lists(st.text()).map(tuple))


async def read_all(data: bytes) -> list[Ready | Note]:
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    reader.feed_eof()
    messages = []
    while (message := await CODEC.read(reader)) is not None:
        messages.append(message)
    return messages


def read_all_blocking(data: bytes) -> list[Ready | Note]:
    stream = io.BytesIO(data)
    return list(iter(lambda: CODEC.read_blocking(stream), None))


@given(st.lists(NOTES))
def test_messages_arrive_as_they_were_sent_on_both_sides(notes: list[Note]) -> None:
    data = b"".join(CODEC.encode(note) for note in notes)
    assert asyncio.run(read_all(data)) == notes
    assert read_all_blocking(data) == notes


@given(NOTES, st.data())
def test_a_stream_that_ends_inside_a_frame_is_an_error(note: Note, draw: st.DataObject) -> None:
    whole = CODEC.encode(note)
    cut = whole[: draw.draw(st.integers(1, len(whole) - 1))]
    with pytest.raises(FrameError, match="ended inside a frame"):
        asyncio.run(read_all(cut))
    with pytest.raises(FrameError, match="ended inside a frame"):
        read_all_blocking(cut)


@given(st.binary(min_size=1, max_size=64))
def test_any_bytes_become_a_message_of_the_protocol_or_an_error(body: bytes) -> None:
    try:
        message = CODEC.decode(body)
    except FrameError:
        return
    assert isinstance(message, Ready | Note)


def test_a_message_that_the_receiver_does_not_name_is_an_error() -> None:
    with pytest.raises(FrameError, match="not a frame of this protocol"):
        read_all_blocking(Codec[Other](Other).encode(Other(1)))


def test_a_field_of_the_wrong_type_is_an_error() -> None:
    body = msgspec.msgpack.encode({"type": "Note", "text": 5})
    with pytest.raises(FrameError, match=r"Expected `str`"):
        CODEC.decode(body)


def test_an_oversize_frame_is_refused_before_it_is_sent() -> None:
    with pytest.raises(FrameError, match="over the limit"):
        CODEC.encode(Note("", bytes(MAX_FRAME_BYTES)))


def test_an_oversize_announcement_is_refused_before_it_is_read() -> None:
    head = (MAX_FRAME_BYTES + 1).to_bytes(4, "big")
    with pytest.raises(FrameError, match="is announced"):
        asyncio.run(read_all(head + b"x"))
    with pytest.raises(FrameError, match="is announced"):
        read_all_blocking(head + b"x")


def test_nothing_at_all_is_a_clean_end() -> None:
    assert asyncio.run(read_all(b"")) == []
    assert read_all_blocking(b"") == []
