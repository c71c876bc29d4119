"""An MQTT message becomes real speech: the contract of `say`, through everything that is real."""

import json
import wave
from pathlib import Path
from typing import Any

import pytest

from tests.system.device import BASE, OWN, Device, wait_for

CASES = json.loads((Path(__file__).parents[1] / "data" / "mqtt_cases.json").read_text(encoding="utf-8"))
SPOKEN = [case for case in CASES if case["event"] == "finished" and not case.get("times")]


@pytest.mark.parametrize(
    "text", ["洗衣机已经洗好了", "The washing machine has finished", "请打开 kitchen window 通风"]
)
def test_plain_text_is_heard_and_its_file_named(device: Device, text: str) -> None:
    before_s = device.heard_s()
    known = len(device.ears.finals())
    device.ears.publish(f"{OWN}/say", text)
    wait_for(lambda: len(device.ears.finals()) > known, "a final result", 60)
    result = device.ears.finals()[-1]
    assert (result["event"], result["text"], result["engine"]) == ("finished", text, "builtin")
    assert result["degraded"] == []
    assert 0.8 < result["duration_s"] < 6
    with wave.open(result["wav_path"]) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 24000)
        assert file.getnframes() / 24000 == pytest.approx(result["duration_s"], abs=0.01)
    assert device.heard_s() - before_s == pytest.approx(result["duration_s"], abs=0.3)


def test_the_events_come_in_order_and_the_end_only_when_it_was_heard(device: Device) -> None:
    job = device.say("One two three four five, said for the order of events")
    device.final(job)
    assert [result["event"] for result in device.ears.results(job)] == ["accepted", "started", "finished"]
    started, finished = device.event(job, "started"), device.event(job, "finished")
    seconds = _seconds(finished["at"]) - _seconds(started["at"])
    assert seconds == pytest.approx(finished["duration_s"], abs=0.4)


def test_a_phrase_said_before_comes_from_the_cache_with_the_same_samples(device: Device) -> None:
    first = device.final(device.say("The garage door is open"))
    again = device.final(device.say("The garage door is open"))
    assert (first["cached"], again["cached"]) == (False, True)
    assert first["wav_path"] != again["wav_path"]
    assert Path(first["wav_path"]).read_bytes() == Path(again["wav_path"]).read_bytes()


@pytest.mark.parametrize("case", SPOKEN, ids=lambda case: case["name"])
def test_public_fault_reports_are_spoken(device: Device, case: dict[str, Any]) -> None:
    known = len(device.ears.finals())
    device.ears.publish(f"{OWN}/say", bytes.fromhex(case["payload_hex"]))
    wait_for(lambda: len(device.ears.finals()) > known, "a final result")
    result = device.ears.finals()[-1]
    assert (result["event"], result["text"]) == ("finished", case["spoken"])


def test_nothing_is_spoken_from_rejected_messages(device: Device) -> None:
    before_s = device.heard_s()
    rejected = [case for case in CASES if case["event"] == "rejected"]
    known = len(device.ears.finals())
    for case in rejected:
        payload = b"a" * 2**20 if case["name"] == "huge" else bytes.fromhex(case["payload_hex"])
        device.ears.publish(f"{OWN}/say", payload)
    wait_for(lambda: len(device.ears.finals()) == known + len(rejected), "a result for each")
    assert [result["code"] for result in device.ears.finals()[known:]] == [case["code"] for case in rejected]
    assert device.heard_s() == before_s


def test_a_repeated_id_is_a_duplicate(device: Device) -> None:
    device.say({"id": "a1", "text": "Dinner"})
    device.final("a1")
    device.say({"id": "a1", "text": "Dinner"})
    wait_for(lambda: len(device.ears.finals("a1")) == 2, "two results")
    first, second = device.ears.finals("a1")
    assert first["event"] == "finished"
    assert (second["event"], second["code"]) == ("rejected", "duplicate")


@pytest.mark.parametrize("topic", [f"{OWN}/say/slow", f"{BASE}/group/upstairs/say", f"{BASE}/all/say"])
def test_every_say_topic(device: Device, topic: str) -> None:
    result = device.final(device.say("Hello there", topic=topic))
    assert result["event"] == "finished"
    assert result["style"] == ("slow" if topic.endswith("slow") else "neutral")


def test_file_output_is_silent(device: Device) -> None:
    before_s = device.heard_s()
    result = device.final(device.say({"text": "Only a file, please", "output": "file"}))
    assert (result["event"], result["degraded"]) == ("finished", [])
    assert Path(result["wav_path"]).is_file()
    assert device.heard_s() == before_s


def test_speaker_output_leaves_no_file(device: Device) -> None:
    result = device.final(device.say({"text": "Only the speaker, please", "output": "speaker"}))
    assert result["event"] == "finished"
    assert result.get("wav_path") is None


def test_what_cannot_be_honoured_is_told_and_speech_not_withheld(device: Device) -> None:
    dialect = device.final(device.say({"text": "晚饭好了", "style": "cantonese"}))
    assert (dialect["event"], dialect["degraded"]) == ("finished", ["style"])
    voice = device.final(device.say({"text": "晚饭好了", "voice": "heart"}))
    assert (voice["event"], voice["voice"], voice["degraded"]) == ("finished", "zf_xiaoyi", ["voice"])


def test_repeat_and_chime_are_one_stream(device: Device) -> None:
    once = device.final(device.say({"text": "Ding", "output": "file"}))["duration_s"]
    before_s, before = device.heard_s(), len(device.card.recordings())
    device.final(device.say({"text": "Ding", "repeat": 3, "repeat_pause_s": 0.5, "chime": "gong"}))
    assert len(device.card.recordings()) == before + 1
    assert device.heard_s() - before_s > 3 * once + 1.0


def test_the_chime_is_in_the_file(device: Device) -> None:
    plain = device.final(device.say({"text": "Dong", "output": "file"}))
    chimed = device.final(device.say({"text": "Dong", "output": "file", "chime": "bell"}))
    size = Path(plain["wav_path"]).stat().st_size
    assert Path(chimed["wav_path"]).stat().st_size > size + 24000


def test_the_result_goes_to_the_reply_topic_with_correlation_data(device: Device) -> None:
    job = device.say("Reply please", ResponseTopic="home/replies", CorrelationData=b"\x07")
    device.final(job)
    replies = [message for message in device.ears.messages if message[0] == "home/replies"]
    wait_for(lambda: len(_to("home/replies", device)) == 3, "three replies")
    assert [json.loads(payload)["event"] for _, payload, _, _ in _to("home/replies", device)] == [
        "accepted",
        "started",
        "finished",
    ]
    assert all(getattr(properties, "CorrelationData", None) == b"\x07" for *_, properties in replies)
    other = device.say({"text": "Reply there", "reply_to": "home/elsewhere"})
    device.final(other)
    wait_for(lambda: len(_to("home/elsewhere", device)) == 3, "three replies")


def test_hostile_ids_stay_in_the_folder(device: Device) -> None:
    result = device.final(device.say({"id": "../../etc/passwd", "text": "Nice try", "output": "file"}))
    assert Path(result["wav_path"]).parent == device.folder / "outputs"


def _to(topic: str, device: Device) -> list[tuple[str, bytes, bool, Any]]:
    return [message for message in list(device.ears.messages) if message[0] == topic]


def _seconds(at: str) -> float:
    hours, minutes, seconds = at.removesuffix("Z").split("T")[1].split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)
