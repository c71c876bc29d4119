"""A sound card that is missing, hangs or dies costs one announcement its sound, and no other."""

from pathlib import Path

from tests.system.conftest import StartDevice

LONG = (
    "This is a long announcement that takes a good while to say, so that something can break meanwhile. " * 2
)


def test_a_missing_sound_device_fails_the_job_and_keeps_its_file(start_device: StartDevice) -> None:
    device = start_device(speaker={"device": "no such card"})
    result = device.final(device.say("Nobody hears this"))
    assert (result["event"], result["code"]) == ("failed", "audio_device")
    assert Path(result["wav_path"]).stat().st_size > 44
    assert device.final(device.say({"text": "Still at work", "output": "file"}))["event"] == "finished"


def test_a_killed_speaker_process_fails_one_job(start_device: StartDevice) -> None:
    device = start_device()
    job = device.say(LONG)
    device.event(job, "started")
    device.children("daemon.audio.player")[0].kill()
    result = device.final(job)
    assert (result["event"], result["code"]) == ("failed", "audio_device")
    assert result["wav_path"]
    assert device.final(device.say("Heard again"))["event"] == "finished"


def test_a_sound_device_that_appears_later_is_spoken_on(start_device: StartDevice) -> None:
    device = start_device(speaker={"device": "late"})
    result = device.final(device.say("Nobody hears this"))
    assert (result["event"], result["code"]) == ("failed", "audio_device")
    assert any("late" in problem for problem in device.ears.state()["problems"])
    device.card.add("late")
    result = device.final(device.say("Now it is heard"))
    assert (result["event"], result["degraded"]) == ("finished", [])
    assert device.heard_s() > 0.5


def test_a_sound_device_that_hangs_fails_in_time_and_is_tried_again(start_device: StartDevice) -> None:
    device = start_device(fifos=("stuck",), speaker={"device": "stuck"})
    result = device.final(device.say("Into the void"), 20)
    assert (result["event"], result["code"]) == ("failed", "audio_device")
    assert Path(result["wav_path"]).stat().st_size > 44
    (device.card.folder / "stuck").unlink()  # from now on ALSA makes a plain file of it
    assert device.final(device.say("Out again"))["event"] == "finished"
