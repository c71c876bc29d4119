"""Formats: what is sent is what was spoken."""

import io
import wave
from collections.abc import AsyncGenerator

import numpy as np
import pytest
import soundfile

from daemon.errors import AnnouncementError, Code
from daemon.web import sound

RATE_HZ = 24000
SAMPLES = (8000 * np.sin(np.arange(RATE_HZ) * 2 * np.pi * 440 / RATE_HZ)).astype("<i2")
PCM = SAMPLES.tobytes()


async def spoken() -> AsyncGenerator[bytes, None]:
    yield PCM[:1000]
    yield PCM[1000:]


async def sent(name: str) -> bytes:
    return b"".join([piece async for piece in sound.in_format(spoken(), sound.named(name), RATE_HZ)])


async def test_a_wav_of_unknown_length_can_be_read() -> None:
    data = await sent("wav")
    with wave.open(io.BytesIO(data)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (RATE_HZ, 1, 2)
    assert data[44:] == PCM
    samples, _ = soundfile.read(io.BytesIO(data), dtype="int16")
    assert np.array_equal(samples, SAMPLES)


async def test_pcm_is_the_samples_alone() -> None:
    assert await sent("pcm") == PCM


@pytest.mark.parametrize(("name", "container"), [("flac", "FLAC"), ("opus", "OGG"), ("mp3", "MP3")])
async def test_an_encoded_file_holds_the_same_sound(name: str, container: str) -> None:
    with soundfile.SoundFile(io.BytesIO(await sent(name))) as file:
        assert file.format == container
        samples = file.read(dtype="float32")
        assert len(samples) / file.samplerate == pytest.approx(1.0, abs=0.1)
        assert np.sqrt(np.mean(np.square(samples))) == pytest.approx(8000 / 2**15 / 2**0.5, rel=0.1)


def test_an_unknown_format_is_told_with_those_there_are() -> None:
    with pytest.raises(AnnouncementError, match="wav, pcm, flac, opus, mp3") as error:
        sound.named("aac")
    assert error.value.code == Code.OUT_OF_RANGE


async def test_an_encoder_that_fails_is_told() -> None:
    with pytest.raises(AnnouncementError, match="encoder failed"):
        await sound.encode(PCM, "nothing", RATE_HZ)
