"""One look at all sensors: what is there is read, what is not is unknown."""

from pathlib import Path

import pytest

from daemon.watch import sensors
from daemon.watch.sensors import Reading
from tests.watch.trees import UNREADABLE, chip, plant, vcgencmd, zone

MEMINFO = "MemTotal: 8000 kB\nMemAvailable: 1000 kB\nSwapTotal: 200 kB\nSwapFree: 100 kB\n"
PRESSURE = "some avg10=1.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.50 avg60=0.00 avg300=0.00 total=1\n"


def pi(root: Path) -> Path:
    files = zone(0, "cpu-thermal", "61234\n") | chip(0, "rp1_adc", "50000\n")
    files |= {"proc/meminfo": MEMINFO, "proc/pressure/memory": PRESSURE}
    return vcgencmd(plant(root, files), "echo throttled=0xe0008")


def test_a_pi_tells_everything(tmp_path: Path) -> None:
    assert sensors.read(pi(tmp_path)) == Reading(
        temperature_c=61.234,
        memory_available_bytes=1000 * 1024,
        memory_total_bytes=8000 * 1024,
        swap_total_bytes=200 * 1024,
        swap_free_bytes=100 * 1024,
        memory_stall_percent=0.5,
        undervoltage=False,
        slowed=True,
        undervoltage_happened=False,
        slowed_happened=True,
    )


def test_an_empty_machine_tells_nothing(tmp_path: Path) -> None:
    assert sensors.read(tmp_path) == Reading() == (None,) * 10
    assert sensors.read(tmp_path / "none") == Reading()


def test_the_named_sensor_is_gone_by(tmp_path: Path) -> None:
    assert sensors.read(pi(tmp_path), "rp1_adc").temperature_c == 50.0
    missing = sensors.read(tmp_path, "oven")
    assert missing.temperature_c is None
    assert missing.memory_available_bytes == 1000 * 1024


@pytest.mark.parametrize(
    "file", ["sys/class/thermal/thermal_zone1/temp", "proc/pressure/memory", "proc/self/cgroup"]
)
def test_one_file_that_cannot_be_read_hides_no_other(tmp_path: Path, file: str) -> None:
    root = pi(tmp_path)
    (root / file).unlink(missing_ok=True)
    reading = sensors.read(plant(root, {file: UNREADABLE}))
    assert reading.temperature_c == 61.234
    assert reading.memory_available_bytes == 1000 * 1024
    assert reading.slowed


def test_this_machine_can_be_read() -> None:
    reading = sensors.read(Path("/"))
    assert reading.memory_available_bytes is not None
    assert reading.memory_total_bytes is not None
    assert 0 < reading.memory_available_bytes <= reading.memory_total_bytes
    assert sensors.memory_available_bytes(Path("/"))


def test_free_disk_of_a_folder_that_is_not_made_yet(tmp_path: Path) -> None:
    free = sensors.disk_free_bytes(tmp_path / "a" / "b")
    assert free is not None
    assert free > 0
    (tmp_path / "file").touch()
    assert sensors.disk_free_bytes(tmp_path / "file" / "below")
