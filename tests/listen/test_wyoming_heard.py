"""What Whisper hears of the sound that a Wyoming client gets, from a whole device."""

from collections.abc import Iterator

import numpy as np
import pytest

from tests.listen.listener import Listener, Scorer
from tests.mqtt.mosquitto import free_port
from tests.system.device import Device
from tests.wyoming.client import Heard, connected

pytestmark = [pytest.mark.listen, pytest.mark.timeout(120)]

PORT = free_port()
ENGLISH = "Dinner is ready, please come to the kitchen."
CHINESE = ("今天天气很好。", "我们一起去公园散步吧。")


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Device]:
    with Device(tmp_path_factory.mktemp("device"), wyoming={"enabled": True, "port": PORT}) as device:
        yield device


def understood(listener: Listener, heard: Heard, language: str) -> str:
    samples = np.frombuffer(heard.pcm, np.int16).astype(np.float32) / 32768
    return listener.hear(samples, heard.sample_rate_hz, language)


@pytest.mark.parametrize("voice", ["heart", "am_michael"])
async def test_a_whole_text_is_understood(
    device: Device, listener: Listener, scorer: Scorer, voice: str
) -> None:
    async with connected(PORT) as client:
        heard = await client.say(ENGLISH, name=voice)
    assert scorer.words(understood(listener, heard, "en")) == scorer.words(ENGLISH)


async def test_a_growing_text_is_understood(device: Device, listener: Listener, scorer: Scorer) -> None:
    text = "".join(CHINESE)
    async with connected(PORT) as client:
        await client.start_stream(list(text))
        await client.end_stream(text)
        heard = await client.answer(streamed=True)
    assert scorer.characters(understood(listener, heard, "zh")) == scorer.characters(text)
