"""WAV files from outside."""

import io
import random
import struct
import wave
from contextlib import suppress

import pytest

from daemon.audio import given
from daemon.audio.wav import WavError

FRAMES = struct.pack("<8h", 100, 300, -100, -300, 32767, 32767, -32768, -32768)


def a_wav(pcm: bytes = FRAMES, channels: int = 1, width: int = 2, rate_hz: int = 16000) -> bytes:
    with io.BytesIO() as buffer:
        with wave.open(buffer, "wb") as file:
            file.setnchannels(channels)
            file.setsampwidth(width)
            file.setframerate(rate_hz)
            file.writeframes(pcm)
        return buffer.getvalue()


def test_mono_stays_as_it_is() -> None:
    assert given.decode(a_wav(rate_hz=22050)) == (22050, FRAMES)


def test_stereo_is_mixed_down() -> None:
    assert given.decode(a_wav(channels=2)).pcm == struct.pack("<4h", 200, -200, 32767, -32768)


@pytest.mark.parametrize("length", [0, 0x7FFFFFFF, 0xFFFFFFFF])
def test_a_header_from_before_the_length_was_known(length: int) -> None:
    piped = bytearray(a_wav())
    piped[40:44] = struct.pack("<I", length)
    try:
        assert given.decode(bytes(piped)).pcm == FRAMES
    except WavError:
        assert length == 0


def test_a_file_that_was_cut_plays_as_far_as_it_goes() -> None:
    assert given.decode(a_wav()[:-3]).pcm == FRAMES[:-4]


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"", "not a PCM WAV"),
        (b"RIFF", "not a PCM WAV"),
        (b"ID3 an mp3 file", "not a PCM WAV"),
        (a_wav(b""), "empty"),
        (a_wav(width=1), "16-bit"),
        (a_wav(width=4), "16-bit"),
        (a_wav(channels=8), "mono or stereo"),
        (a_wav(rate_hz=1), "8000 to 96000"),
        (a_wav(rate_hz=10**9), "8000 to 96000"),
        (bytes(given.MAX_BYTES + 1), "the limit is"),
    ],
)
def test_what_cannot_be_played_is_told(payload: bytes, reason: str) -> None:
    with pytest.raises(WavError, match=reason):
        given.decode(payload)


def test_damage_anywhere_ends_in_a_sentence_or_a_sound() -> None:
    whole, dice = a_wav(), random.Random(1)
    for _ in range(3000):
        damaged = bytearray(whole[: dice.randrange(12, len(whole) + 1)])
        for _ in range(3):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        with suppress(WavError):
            assert given.decode(bytes(damaged)).pcm
