"""Rhasspy asks in its own words, and is answered when the loudspeaker is done."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.audio.test_given import a_wav
from tests.mqtt.peer import Peer
from tests.system.device import Device, wait_for

SAY, FINISHED, ERROR = "hermes/tts/say", "hermes/tts/sayFinished", "hermes/error/tts"
SERVER = "hermes/audioServer"
PLAYED, PLAY_ERROR = f"{SERVER}/kitchen/playFinished", "hermes/error/audioServer/play"
ANSWERS = (FINISHED, ERROR, "/playFinished", PLAY_ERROR)


class Rhasspy:
    """Asks for things and remembers what it was told, and when."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self.told: list[tuple[str, dict[str, Any], float]] = []

    def say(self, **fields: Any) -> None:
        self._peer.publish(SAY, json.dumps({"siteId": "kitchen", **fields}), qos=0)

    def play(self, request_id: str, payload: bytes, site: str = "kitchen") -> None:
        self._peer.publish(f"{SERVER}/{site}/playBytes/{request_id}", payload, qos=0)

    def publish(self, topic: str, payload: str | bytes) -> None:
        self._peer.publish(topic, payload)

    def topics(self, request_id: str) -> list[str]:
        self._listen()
        return [
            topic for topic, fields, _ in self.told if request_id in (fields.get("id"), fields.get("context"))
        ]

    def end(self, request_id: str) -> float:
        """When the end of a request was told, `time.monotonic()`."""

        def ends() -> list[float]:
            self._listen()
            finished = (FINISHED, PLAYED)
            return [
                at_s for topic, fields, at_s in self.told if topic in finished and fields["id"] == request_id
            ]

        found: list[float] = wait_for(ends, f"the end of {request_id}")
        return found[0]

    def _listen(self) -> None:
        while not self._peer.messages.empty():
            message = self._peer.messages.get()
            if message.topic.endswith(ANSWERS):
                self.told.append((message.topic, json.loads(message.payload), time.monotonic()))


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Device]:
    with Device(tmp_path_factory.mktemp("hermes"), hermes={"enabled": True, "site_id": "kitchen"}) as device:
        yield device


@pytest.fixture
def rhasspy(device: Device) -> Iterator[Rhasspy]:
    with Peer(device.broker.port, "hermes/#") as peer:
        yield Rhasspy(peer)


def a_tone(seconds: float, rate_hz: int = 16000, channels: int = 1) -> bytes:
    frame = b"\x00\x20" * channels + b"\x00\xe0" * channels
    return a_wav(frame * int(seconds * rate_hz / 2), channels, rate_hz=rate_hz)


def test_the_end_is_told_once_and_not_before_the_last_word_was_heard(
    device: Device, rhasspy: Rhasspy
) -> None:
    before_s, began_s = device.heard_s(), time.monotonic()
    rhasspy.say(text="One two three four five six seven", id="say-1", sessionId="session", lang="en-GB")
    ended_s = rhasspy.end("say-1")
    spoken_s = device.heard_s() - before_s
    assert spoken_s > 1.5
    assert ended_s - began_s > spoken_s
    assert rhasspy.topics("say-1") == [FINISHED]
    assert rhasspy.told[-1][1] == {"siteId": "kitchen", "id": "say-1", "sessionId": "session"}


def test_what_cannot_be_said_is_an_error_and_an_end(device: Device, rhasspy: Rhasspy) -> None:
    rhasspy.say(text="...", id="nothing")
    rhasspy.end("nothing")
    assert rhasspy.topics("nothing") == [ERROR, FINISHED]
    assert rhasspy.told[0][1]["error"] == "the text holds nothing that can be spoken"
    wait_for(lambda: [final["code"] for final in device.ears.finals()][-1:] == ["nothing_to_say"], "a result")


def test_one_that_was_stopped_is_an_error_and_an_end(device: Device, rhasspy: Rhasspy) -> None:
    rhasspy.say(
        text="This is a long announcement, and somebody does not want to hear it to its end", id="long"
    )
    wait_for(lambda: device.ears.state()["status"] == "speaking", "it speaks")
    device.command("stop")
    rhasspy.end("long")
    assert rhasspy.topics("long") == [ERROR, FINISHED]


def test_other_sites_and_garbage_are_left_alone(device: Device, rhasspy: Rhasspy) -> None:
    before_s = device.heard_s()
    rhasspy.say(siteId="hall", text="Nobody is here", id="hall")
    rhasspy.say(siteId=None, text="Nobody is here", id="none")
    rhasspy.play("hall", a_tone(0.5), site="hall")
    for payload in (b"", b"{", b"\xff", b"null", b"[]"):
        rhasspy.publish(SAY, payload)
        rhasspy.publish(f"{SERVER}/toggleOff", payload)
    rhasspy.say(text="Still here", id="still")
    rhasspy.end("still")
    assert {fields["id"] for _, fields, _ in rhasspy.told} == {"still"}
    assert 0.3 < device.heard_s() - before_s < 2


@pytest.mark.parametrize(("rate_hz", "channels"), [(16000, 1), (22050, 1), (44100, 2)])
def test_a_sound_is_heard_for_as_long_as_it_lasts(
    device: Device, rhasspy: Rhasspy, rate_hz: int, channels: int
) -> None:
    before_s, began_s = device.heard_s(), time.monotonic()
    name = f"tone-{rate_hz}"
    rhasspy.play(name, a_tone(0.7, rate_hz, channels))
    assert rhasspy.end(name) - began_s > 0.7
    assert rhasspy.topics(name) == [PLAYED]
    assert device.heard_s() - before_s == pytest.approx(0.7, abs=0.05)
    wait_for(lambda: device.ears.finals()[-1]["engine"] == "given", "a result, which comes after the answer")
    result = device.ears.finals()[-1]
    assert (result["event"], result["duration_s"]) == ("finished", 0.7)
    assert result.get("wav_path") is None


def test_sounds_and_speech_keep_the_order_in_which_they_came(device: Device, rhasspy: Rhasspy) -> None:
    rhasspy.say(text="First", id="q1")
    rhasspy.play("q2", a_tone(0.4))
    rhasspy.say(text="Third", id="q3")
    rhasspy.play("q4", a_tone(0.4))  # the same sound again
    rhasspy.end("q4")
    assert [fields["id"] for _, fields, _ in rhasspy.told] == ["q1", "q2", "q3", "q4"]


@pytest.mark.parametrize(
    ("payload", "sentence"),
    [(b"no sound", "not a PCM WAV"), (a_wav(width=1), "16-bit"), (bytes(2**20), "not a PCM WAV")],
)
def test_what_cannot_be_played_is_an_error_and_an_end(
    rhasspy: Rhasspy, payload: bytes, sentence: str
) -> None:
    rhasspy.play("bad", payload)
    rhasspy.end("bad")
    assert rhasspy.topics("bad") == [PLAY_ERROR, PLAYED]
    assert sentence in rhasspy.told[0][1]["error"]
    assert rhasspy.told[0][1]["context"] == "bad"


def test_turned_off_all_goes_on_without_a_sound(device: Device, rhasspy: Rhasspy) -> None:
    before_s = device.heard_s()
    rhasspy.publish(f"{SERVER}/toggleOff", '{"siteId": "kitchen"}')
    switch = "cosyvoice/test/settings/do_not_disturb"
    wait_for(lambda: device.ears.payloads(switch)[-1] == b"ON", "it is off")
    rhasspy.play("silent", a_tone(0.7))
    rhasspy.say(text="Silence", id="silent too")
    rhasspy.end("silent too")
    assert (rhasspy.topics("silent"), rhasspy.topics("silent too")) == ([PLAYED], [FINISHED])
    assert device.heard_s() == before_s
    rhasspy.publish(f"{SERVER}/toggleOn", '{"siteId": "kitchen"}')
    wait_for(lambda: device.ears.payloads(switch)[-1] == b"OFF", "it is on")


def test_a_sound_is_played_again_on_replay_and_answered_no_more(device: Device, rhasspy: Rhasspy) -> None:
    rhasspy.play("bell", a_tone(0.5))
    rhasspy.end("bell")
    before_s = device.heard_s()
    device.command("replay")
    wait_for(lambda: device.heard_s() - before_s == pytest.approx(0.5, abs=0.05), "it is heard again")
    assert rhasspy.topics("bell") == [PLAYED]


def test_who_waits_is_answered_after_a_power_cut(start_device: Callable[..., Device]) -> None:
    device = start_device(hermes={"enabled": True})
    with Peer(device.broker.port, "hermes/#") as peer:
        rhasspy = Rhasspy(peer)
        device.command("pause")
        wait_for(lambda: device.ears.state()["status"] == "paused", "it holds")
        rhasspy.say(siteId="test", text="Said after the power cut", id="late")
        rhasspy.publish(f"{SERVER}/test/playBytes/bell", a_tone(0.5))
        wait_for(lambda: len(device.ears.results()) == 2, "both are accepted")
        device.kill()
        device.start()
        wait_for(lambda: f"{SERVER}/test/playFinished" in rhasspy.topics("bell"), "the bell was heard")
        assert rhasspy.topics("late") == [FINISHED]
        assert device.heard_s() > 1.0
