"""The wall clock jumps by an hour, forward and back; what counts seconds does not notice."""

from datetime import datetime
from pathlib import Path

import pytest

from tests.system.conftest import StartDevice
from tests.system.device import wait_for

WALL_CLOCK = Path(__file__).parents[1] / "fakes" / "wall_clock"
HOUR_S = 3600


def _jump(offset: Path, by_s: int) -> None:
    temporary = offset.with_suffix(".new")
    temporary.write_text(str(by_s))
    temporary.replace(offset)


@pytest.mark.parametrize("by_s", [HOUR_S, -HOUR_S])
def test_a_jump_of_the_clock_neither_expires_nor_repeats_anything(
    start_device: StartDevice, tmp_path: Path, by_s: int
) -> None:
    offset = tmp_path / "offset"
    _jump(offset, 0)
    device = start_device(env={"PYTHONPATH": str(WALL_CLOCK), "WALL_CLOCK_OFFSET": str(offset)})
    before = device.final(device.say({"text": "Before the jump", "id": "before"}))
    device.command("pause")
    wait_for(lambda: device.ears.state().get("status") == "paused", "paused")
    fresh = device.say({"text": "Accepted before, said after", "ttl_s": 60})
    stale = device.say({"text": "Too late by then", "ttl_s": 3})
    wait_for(lambda: device.ears.results(stale), "it is accepted")
    _jump(offset, by_s)
    assert device.final(stale, 10)["event"] == "expired"
    device.command("resume")
    after = device.final(fresh)
    assert (after["event"], after["degraded"]) == ("finished", [])
    jumped_s = (datetime.fromisoformat(after["at"]) - datetime.fromisoformat(before["at"])).total_seconds()
    assert abs(jumped_s - by_s) < 60, "the clock did not jump"
    device.say({"text": "Again", "id": "before"})
    wait_for(lambda: device.ears.results("before")[-1]["code"] == "duplicate", "it is known")
    assert Path(before["wav_path"]).exists()
    assert device.ears.state()["uptime_s"] < 600
