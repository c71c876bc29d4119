"""Speech in the formats that clients ask for; an encoder runs in a process of its own."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from importlib.util import find_spec
from typing import NamedTuple

from daemon.audio.wav import stream_header
from daemon.children.answer import ask
from daemon.errors import AnnouncementError, Code

ENCODER = "daemon.web.encode"
ENCODE_DEADLINE_S = 60.0  # minutes of speech on a small board


class Format(NamedTuple):
    """How sound is sent."""

    media_type: str
    head: bool = False  # begins with a WAV header
    encoding: str | None = None  # as the encoder knows it; None: samples as they are


FORMATS = {
    "wav": Format("audio/wav", head=True),
    "pcm": Format("audio/pcm"),  # 16 bits, little-endian, mono, as OpenAI's
    "flac": Format("audio/flac", encoding="flac"),
    "opus": Format("audio/ogg", encoding="opus"),
    "mp3": Format("audio/mpeg", encoding="mp3"),
}


def named(name: str) -> Format:
    """Raises `AnnouncementError`: there is none of this name, or its codec is not installed."""
    if (known := FORMATS.get(name)) is None:
        raise AnnouncementError(Code.OUT_OF_RANGE, f"the formats are {', '.join(FORMATS)}, not '{name[:60]}'")
    if known.encoding is not None and find_spec("soundfile") is None:
        raise AnnouncementError(Code.OUT_OF_RANGE, f"{name} needs soundfile; wav and pcm are always there")
    return known


async def in_format(
    pieces: AsyncGenerator[bytes, None], wanted: Format, sample_rate_hz: int
) -> AsyncGenerator[bytes, None]:
    """The sound as it is sent, piece by piece where the format allows. Raises `AnnouncementError`."""
    async with aclosing(pieces):
        if wanted.encoding is not None:
            pcm = b"".join([piece async for piece in pieces])
            yield await encode(pcm, wanted.encoding, sample_rate_hz)
            return
        head = stream_header(sample_rate_hz) if wanted.head else b""
        async for piece in pieces:
            yield head + piece
            head = b""


async def encode(pcm: bytes, encoding: str, sample_rate_hz: int) -> bytes:
    """A whole file of 16-bit mono PCM. Raises `AnnouncementError`."""
    try:
        answer = await ask(ENCODER, encoding, str(sample_rate_hz), asked=pcm, deadline_s=ENCODE_DEADLINE_S)
    except TimeoutError as error:
        raise AnnouncementError(Code.ENGINE_TIMEOUT, f"the {encoding} encoder takes too long") from error
    if answer.code != 0:
        last = answer.complaints.decode(errors="replace").strip().rpartition("\n")[2]
        raise AnnouncementError(Code.ENGINE_FAILED, f"the {encoding} encoder failed: {last}")
    return answer.said
