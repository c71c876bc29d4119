"""CosyVoice3 in a whole device: tiny random weights speak nonsense in the place of a trained model."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import tiny_model
from tests.system.device import DISCOVERY, OWN, Device, wait_for
from tests.system.family import cosyvoiced, enrol

MEMORY_SHORT_KB = 700_000


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    tiny_model.make(folder, enrolment=True)
    return folder / "prepared"


@pytest.fixture(scope="module")
def family(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Device]:
    """A device that runs on while its first voice is enrolled."""
    with Device(tmp_path_factory.mktemp("family"), cosyvoice3={"model": str(model)}) as device:
        enrol(device, "mama")
        wait_for(lambda: b'"mama"' in device.ears.payloads(f"{OWN}/voices")[-1], "the voice", 30)
        yield device


def test_a_voice_enrolled_meanwhile_speaks(family: Device) -> None:
    before_s = family.heard_s()
    result = family.final(family.say({"text": "晚饭好了，快来吃饭。", "voice": "mama"}))
    assert (result["event"], result["engine"], result["voice"]) == ("finished", "cosyvoice3", "mama"), result
    assert result["degraded"] == []
    assert family.heard_s() - before_s > 0.3


def test_it_is_now_the_voice_for_all_that_names_none(family: Device) -> None:
    assert family.final(family.say("The washing machine has finished"))["voice"] == "mama"
    builtin = family.final(family.say({"text": "The washing machine has finished", "voice": "heart"}))
    assert (builtin["engine"], builtin["voice"]) == ("builtin", "heart")


@pytest.mark.parametrize("style", ["cantonese", "happy", "用四川话慢慢地说这句话"])
def test_styles_are_followed(family: Device, style: str) -> None:
    result = family.final(family.say({"text": "会议改到三点。", "style": style, "output": "file"}))
    assert (result["event"], result["degraded"], result["style"]) == ("finished", [], style), result


def test_annotations_and_numbers_go_through(family: Device) -> None:
    text = "她的爱[h][ào]是画画，今年25岁。I am a [M][AY0][N][UW1][T] person [laughter]"
    assert family.final(family.say({"text": text, "output": "file"}))["event"] == "finished"


def test_what_is_rendered_ahead_is_said_at_once(family: Device) -> None:
    request = {"text": "校车五分钟后出发，请到门口集合。", "voice": "mama"}
    ahead = family.final(family.say({**request, "output": "file"}))
    said = family.final(family.say(request))
    assert (ahead["cached"], said["cached"]) == (False, True)
    assert Path(ahead["wav_path"]).read_bytes() == Path(said["wav_path"]).read_bytes()


def test_the_same_seed_gives_the_same_samples_after_a_restart(family: Device) -> None:
    request = {"text": "门口有人，请开门。", "voice": "mama", "seed": 7, "output": "file"}
    first = Path(family.final(family.say(request))["wav_path"]).read_bytes()
    family.stop()
    shutil.rmtree(Path(family.config["state"]["path"]) / "phrases")
    family.start()
    again = family.final(family.say(request))
    assert again["cached"] is False
    assert Path(again["wav_path"]).read_bytes() == first
    other = family.final(family.say({**request, "seed": 8}))
    assert Path(other["wav_path"]).read_bytes() != first


def test_a_killed_worker_costs_nothing(family: Device) -> None:
    text = "第一句话说得比较长，好让人来得及。第二句话也不短，大家都听得见。第三句话在最后。"
    job = family.say({"text": text, "voice": "mama", "seed": 3})
    family.event(job, "started")
    for worker in family.children("daemon.synthesis.worker"):
        os.kill(worker.pid, signal.SIGKILL)
    result = family.final(job)
    assert (result["event"], result["engine"]) == ("finished", "cosyvoice3"), result


def test_a_removed_voice_is_named_and_another_speaks(family: Device) -> None:
    enrol(family, "papa")
    wait_for(lambda: b'"papa"' in family.ears.payloads(f"{OWN}/voices")[-1], "the second voice", 30)
    wait_for(lambda: b'"papa"' in family.ears.payloads(DISCOVERY)[-1], "Home Assistant's list has it")
    family.command("pause")
    job = family.say({"text": "爸爸不在了以后说的话。", "voice": "papa", "output": "file"})
    family.event(job, "accepted")
    cosyvoiced(family, "voices", "remove", "papa")
    wait_for(lambda: b'"papa"' not in family.ears.payloads(f"{OWN}/voices")[-1], "it is gone", 30)
    family.command("resume")
    result = family.final(job)
    assert (result["event"], result["voice"], result["degraded"]) == ("finished", "mama", ["voice"]), result


def test_voices_are_private(family: Device) -> None:
    folder = Path(family.config["state"]["path"]) / "voices"
    assert folder.stat().st_mode & 0o077 == 0
    assert all(file.stat().st_mode & 0o077 == 0 for file in folder.iterdir())


def test_without_enough_memory_a_builtin_voice_speaks(model: Path, family: Device, tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "proc").mkdir(parents=True)
    (root / "proc" / "meminfo").write_text(f"MemAvailable: {MEMORY_SHORT_KB} kB\n")
    with Device(
        tmp_path, cosyvoice3={"model": str(model)}, watch={"root": str(root)}, worker={"warm_start": False}
    ) as device:
        voices = Path(family.config["state"]["path"]) / "voices"
        shutil.copytree(voices, Path(device.config["state"]["path"]) / "voices")
        wait_for(lambda: b'"mama"' in device.ears.payloads(f"{OWN}/voices")[-1], "the voice", 30)
        result = device.final(device.say({"text": "内存不够了。", "voice": "mama", "output": "file"}))
        assert (result["event"], result["engine"], result["degraded"]) == ("finished", "builtin", ["voice"])
