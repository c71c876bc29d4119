"""Commands, settings, priorities and the state, on a whole device."""

import json
import time

import pytest

from tests.system.conftest import StartDevice
from tests.system.device import OWN, Device, wait_for

LONG = (
    "This sentence is long enough that another one can come in while it is being spoken aloud to everybody."
)


@pytest.fixture(scope="module", autouse=True)
def warm(device: Device) -> None:
    device.final(device.say({"text": LONG, "output": "file"}))


def test_stop_ends_what_is_spoken_and_the_next_goes_on(device: Device) -> None:
    first = device.say(LONG)
    device.event(first, "started")
    second = device.say("Next")
    device.command("stop")
    assert device.final(first)["event"] == "cancelled"
    assert device.final(second)["event"] == "finished"


def test_clear_ends_all(device: Device) -> None:
    jobs = [device.say(LONG) for _ in range(3)]
    device.event(jobs[0], "started")
    wait_for(lambda: len([j for j in jobs if device.ears.results(j)]) == 3, "all are accepted")
    device.command("clear")
    assert {device.final(job)["event"] for job in jobs} == {"cancelled"}


def test_cancel_takes_one_by_its_id(device: Device) -> None:
    current, waiting, other = device.say(LONG), device.say("Not me"), device.say("But me")
    device.event(other, "accepted")
    device.command("cancel", waiting)
    assert device.final(waiting)["event"] == "cancelled"
    device.event(current, "started")
    device.command("cancel", current)
    assert device.final(current)["event"] == "cancelled"
    assert device.final(other)["event"] == "finished"


def test_a_command_right_behind_a_request_finds_it(device: Device) -> None:
    for verb in ("cancel", "clear") * 3:
        job = device.say(LONG)
        device.command(verb, job)
        assert device.final(job)["event"] == "cancelled"


def test_pause_holds_the_place_and_resume_goes_on(device: Device) -> None:
    job = device.say(LONG)
    started_s = time.monotonic()
    duration_s = device.event(job, "started") and 0.0
    device.command("pause")
    wait_for(lambda: device.ears.state()["status"] == "paused", "the state says so")
    waiting = device.say("I wait")
    time.sleep(1.5)
    assert not device.ears.finals(job)
    device.command("resume")
    result = device.final(job)
    duration_s = result["duration_s"]
    assert result["event"] == "finished"
    assert time.monotonic() - started_s > duration_s + 1.2
    assert device.final(waiting)["event"] == "finished"


def test_replay_says_the_last_one_again(device: Device) -> None:
    device.final(device.say("Say it again"))
    known = len(device.ears.finals())
    device.command("replay")
    wait_for(lambda: len(device.ears.finals()) > known, "a result")
    result = device.ears.finals()[-1]
    assert (result["event"], result["text"], result["cached"]) == ("finished", "Say it again", True)


def test_important_cuts_in_and_the_message_is_said_afterwards(device: Device) -> None:
    message = device.say(LONG)
    device.event(message, "started")
    important = device.say({"text": "Fire alarm", "priority": "important"})
    assert device.final(important)["event"] == "finished"
    assert not device.ears.finals(message)
    assert device.final(message)["event"] == "finished"
    ended = [result["id"] for result in device.ears.finals()]
    assert ended.index(important) < ended.index(message)


def test_only_the_newest_text_is_said(device: Device) -> None:
    jobs = [device.say({"text": f"Text number {number}, {LONG}", "priority": "text"}) for number in range(3)]
    assert [device.final(job)["event"] for job in jobs] == ["cancelled", "cancelled", "finished"]


def test_what_waits_too_long_expires_unsaid(device: Device) -> None:
    first = device.say(LONG)
    late = device.say({"text": "Too late", "ttl_s": 1})
    assert device.final(late)["event"] == "expired"
    assert device.final(first)["event"] == "finished"


def test_settings_are_echoed_and_wrong_ones_are_not_taken(device: Device) -> None:
    device.set("volume", "40")
    wait_for(lambda: device.ears.payloads(f"{OWN}/settings/volume")[-1] == b"40", "the echo")
    echoes = len(device.ears.payloads(f"{OWN}/settings/volume"))
    device.set("volume", "loud")
    wait_for(lambda: len(device.ears.payloads(f"{OWN}/settings/volume")) > echoes, "the old value")
    assert device.ears.payloads(f"{OWN}/settings/volume")[-1] == b"40"
    device.set("volume", "100")


def test_do_not_disturb_lets_only_important_ones_be_heard(device: Device) -> None:
    device.set("do_not_disturb", "ON")
    wait_for(lambda: device.ears.payloads(f"{OWN}/settings/do_not_disturb")[-1] == b"ON", "the echo")
    before_s = device.heard_s()
    silent = device.final(device.say("Nobody hears this"))
    assert (silent["event"], silent["degraded"]) == ("finished", ["speaker"])
    assert device.heard_s() == before_s
    loud = device.final(device.say({"text": "Everybody hears this", "priority": "important"}))
    assert (loud["event"], loud["degraded"]) == ("finished", [])
    assert device.heard_s() > before_s
    device.set("do_not_disturb", "OFF")


def test_an_unknown_command_changes_nothing(device: Device) -> None:
    device.command("stopp")
    wait_for(lambda: "there is no command 'stopp'; did you mean 'stop'?" in device.log, "the log says so")
    assert device.final(device.say("Still here"))["event"] == "finished"


def test_the_state_tells_how_the_device_is(device: Device) -> None:
    job = device.say(LONG)
    wait_for(lambda: device.ears.state().get("speaking_id") == job, "the state names the job")
    assert device.ears.state()["status"] == "speaking"
    device.final(job)
    wait_for(lambda: device.ears.state()["status"] == "idle", "idle again")
    state = device.ears.state()
    assert state["last"]["id"] == job
    assert state["queue_length"] == 0
    assert state["worker_rss_bytes"] > 50 * 2**20
    assert state["outputs_bytes"] >= 0
    voices = json.loads(device.ears.payloads(f"{OWN}/voices")[-1])
    assert {"heart", "zf_xiaoyi"} <= {voice["name"] for voice in voices}
    styles = json.loads(device.ears.payloads(f"{OWN}/styles")[-1])
    assert {"neutral", "cantonese"} <= {style["name"] for style in styles}


def test_a_retained_message_from_before_is_dropped_and_a_live_one_said_once(
    start_device: StartDevice,
) -> None:
    device = start_device()
    device.stop()
    device.ears.publish(f"{OWN}/say", {"id": "old", "text": "Old news"}, retain=True)
    device.start()
    wait_for(lambda: "a stored message" in device.log, "the log says so")
    device.say({"id": "live", "text": "Fresh news"}, retain=True)
    assert device.final("live")["event"] == "finished"
    assert device.ears.finals("old") == []
    assert len(device.ears.finals("live")) == 1


def test_settings_survive_a_restart_and_reload_reads_the_configuration_anew(
    start_device: StartDevice,
) -> None:
    device = start_device(limits={"max_text_length": 50})
    device.set("volume", "30")
    wait_for(lambda: device.ears.payloads(f"{OWN}/settings/volume")[-1:] == [b"30"], "the echo")
    device.config["limits"]["max_text_length"] = 5
    online = len(device.ears.payloads(f"{OWN}/availability"))
    device.config_path.write_text(json.dumps(device.config))
    device.command("reload")
    wait_for(lambda: len(device.ears.payloads(f"{OWN}/availability")) >= online + 2, "offline and online")
    assert device.final(device.say("Hello there"))["code"] == "text_too_long"
    wait_for(lambda: device.ears.payloads(f"{OWN}/settings/volume")[-1] == b"30", "the volume is kept")


def test_the_queue_is_bounded_and_important_ones_still_get_in(start_device: StartDevice) -> None:
    device = start_device(limits={"queue_length": 2})
    device.command("pause")
    wait_for(lambda: device.ears.state().get("status") == "paused", "paused")
    jobs = [device.say({"text": f"Number {number}", "output": "file"}) for number in range(3)]
    full = device.final(jobs[2])
    assert (full["event"], full["code"]) == ("rejected", "queue_full")
    important = device.say({"text": "Fire", "priority": "important"})
    device.event(important, "accepted")
    device.command("resume")
    assert {device.final(job)["event"] for job in (jobs[0], jobs[1], important)} == {"finished"}
    device.say({"id": jobs[2], "text": "Again", "output": "file"})
    wait_for(lambda: len(device.ears.finals(jobs[2])) == 2, "the refused id may be used again")
    assert device.ears.finals(jobs[2])[1]["event"] == "finished"
