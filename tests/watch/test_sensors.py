"""Sensors are read from a tree of files; what is not there is unknown."""

from pathlib import Path

import pytest

from daemon.watch import sensors


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_no_sensor_is_unknown(tmp_path: Path) -> None:
    assert sensors.read(tmp_path) == sensors.Reading(None, None)


def test_a_pi_with_a_thermal_zone(tmp_path: Path) -> None:
    files = {
        "sys/class/thermal/thermal_zone0/type": "cpu-thermal\n",
        "sys/class/thermal/thermal_zone0/temp": "61234\n",
        "proc/meminfo": "MemTotal: 8000000 kB\nMemFree: 1 kB\nMemAvailable:    1000 kB\n",
    }
    assert sensors.read(tree(tmp_path, files)) == sensors.Reading(61.234, 1_024_000)


def test_the_processor_counts_and_not_the_disk(tmp_path: Path) -> None:
    files = {
        "sys/class/hwmon/hwmon0/name": "nvme\n",
        "sys/class/hwmon/hwmon0/temp1_input": "79000\n",
        "sys/class/thermal/thermal_zone0/type": "soc-thermal\n",
        "sys/class/thermal/thermal_zone0/temp": "55000\n",
        "sys/class/thermal/thermal_zone1/type": "bigcore0-thermal\n",
        "sys/class/thermal/thermal_zone1/temp": "58000\n",
    }
    assert sensors.temperature_c(tree(tmp_path, files)) == 58.0


def test_without_a_processor_sensor_the_hottest_counts(tmp_path: Path) -> None:
    files = {"sys/class/hwmon/hwmon0/name": "acpitz\n", "sys/class/hwmon/hwmon0/temp1_input": "41000\n"}
    assert sensors.temperature_c(tree(tmp_path, files)) == 41.0


@pytest.mark.parametrize("text", ["", "hot", "-127000", "999999"])
def test_an_implausible_reading_is_unknown(tmp_path: Path, text: str) -> None:
    files = {"sys/class/thermal/thermal_zone0/type": "cpu", "sys/class/thermal/thermal_zone0/temp": text}
    assert sensors.temperature_c(tree(tmp_path, files)) is None


def test_free_disk_of_a_folder_that_is_not_made_yet(tmp_path: Path) -> None:
    free = sensors.disk_free_bytes(tmp_path / "a" / "b")
    assert free is not None
    assert free > 0
