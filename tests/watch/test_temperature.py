"""The processor's temperature is found among the sensors of real boards, whatever stands beside it."""

import os
from pathlib import Path

import pytest

from daemon.watch import temperature
from daemon.watch.temperature import Sensor
from tests.watch.trees import UNREADABLE, chip, plant, zone

ORANGE_PI_5 = {
    **zone(0, "soc-thermal", "55000\n"),
    **zone(1, "bigcore0-thermal", "58384\n"),
    **zone(2, "bigcore2-thermal", "57000\n"),
    **zone(3, "littlecore-thermal", "56000\n"),
    **zone(4, "center-thermal", "69000\n"),
    **zone(5, "gpu-thermal", "71000\n"),
    **zone(6, "npu-thermal", "72000\n"),
    **chip(0, "nvme", "79850\n", labels=("Composite",)),
}
JETSON = {
    **zone(0, "AO-therm", "46000"),
    **zone(1, "CPU-therm", "41500"),
    **zone(2, "GPU-therm", "43000"),
    **zone(3, "PLL-therm", "42000"),
    **zone(4, "PMIC-Die", "100000"),
    **zone(5, "thermal-fan-est", "42500"),
}
ODROID = {**zone(0, "ddr-thermal", "61000"), **zone(1, "cpu-thermal", "52000")}
DESKTOP = {
    **chip(0, "coretemp", "48000", "51000", labels=("Package id 0", "Core 0")),
    **chip(1, "iwlwifi_1", "63000"),
    **chip(2, "amdgpu", "72000", labels=("edge",)),
    **chip(3, "BAT0", "30000"),
    **zone(0, "acpitz", "27800"),
}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (ORANGE_PI_5, Sensor("bigcore0-thermal", 58.384)),
        (JETSON, Sensor("CPU-therm", 41.5)),
        (ODROID, Sensor("cpu-thermal", 52.0)),
        (DESKTOP, Sensor("coretemp/Core 0", 51.0)),
        (zone(0, "x86_pkg_temp", "44000") | zone(1, "acpitz", "60000"), Sensor("x86_pkg_temp", 44.0)),
        (chip(0, "k10temp", "39000") | chip(1, "nvme", "70000"), Sensor("k10temp", 39.0)),
        (zone(0, "soc_dts0", "47000") | chip(0, "gpu_core", "80000"), Sensor("soc_dts0", 47.0)),
        (zone(0, "bcm2835_thermal", "42000") | zone(1, "brcmfmac", "70000"), Sensor("bcm2835_thermal", 42.0)),
    ],
)
def test_the_hottest_of_the_processor_counts(
    tmp_path: Path, files: dict[str, str | None], expected: Sensor
) -> None:
    assert temperature.hottest(plant(tmp_path, files)) == expected


def test_a_label_counts_where_no_chip_is_the_processor(tmp_path: Path) -> None:
    files = chip(0, "thinkpad", "47000", "52000", "49000", labels=("CPU", "GPU", "CPU fan"))
    assert temperature.hottest(plant(tmp_path, files)) == Sensor("thinkpad/CPU", 47.0)


def test_what_belongs_to_another_part_counts_only_at_last(tmp_path: Path) -> None:
    root = plant(tmp_path, chip(0, "nvme", "70000") | zone(0, "acpitz", "41000"))
    assert temperature.hottest(root) == Sensor("acpitz", 41.0)
    (root / "sys/class/thermal/thermal_zone0/temp").unlink()
    assert temperature.hottest(root) == Sensor("nvme", 70.0)


@pytest.mark.parametrize("text", ["", "hot", "-127000", "999999", "0", "55", "1_0000", "45.5", "9" * 40])
def test_a_reading_that_cannot_be_is_none(tmp_path: Path, text: str) -> None:
    root = plant(tmp_path, zone(0, "cpu-thermal", text))
    assert temperature.hottest(root) is None
    assert temperature.list_sensors(root) == []


def test_frost_is_a_temperature(tmp_path: Path) -> None:
    assert temperature.hottest(plant(tmp_path, zone(0, "cpu-thermal", "-5000"))) == Sensor(
        "cpu-thermal", -5.0
    )


def test_what_cannot_be_read_hides_nothing(tmp_path: Path) -> None:
    files = (
        zone(0, "cpu0-thermal", UNREADABLE) | zone(1, "cpu1-thermal", "50000") | chip(0, "cpu", UNREADABLE)
    )
    assert temperature.hottest(plant(tmp_path, files)) == Sensor("cpu1-thermal", 50.0)


def test_sensors_that_are_off_or_broken_do_not_count(tmp_path: Path) -> None:
    files = zone(0, "cpu-thermal", "90000", mode="disabled") | chip(0, "cpu_thermal", "91000", "50000")
    files["sys/class/hwmon/hwmon0/temp1_fault"] = "1\n"
    assert temperature.hottest(plant(tmp_path, files)) == Sensor("cpu_thermal", 50.0)


def test_a_sensor_without_a_name_has_that_of_its_folder(tmp_path: Path) -> None:
    files: dict[str, str | None] = {
        "sys/class/hwmon/hwmon3/temp1_input": "40000",
        "sys/class/thermal/thermal_zone7/temp": "41000",
    }
    found = temperature.list_sensors(plant(tmp_path, files))
    assert found == [Sensor("hwmon3", 40.0), Sensor("thermal_zone7", 41.0)]


@pytest.mark.parametrize(
    ("named", "celsius"),
    [
        ("coretemp", 51.0),
        ("CoreTemp", 51.0),
        ("Package id 0", 48.0),
        ("coretemp/package id 0", 48.0),
        ("iwlwifi_1", 63.0),
        ("acpitz", 27.8),
        (" acpitz ", 27.8),
        ("core", None),
        ("Core 7", None),
        ("", None),
    ],
)
def test_a_sensor_can_be_named(tmp_path: Path, named: str, celsius: float | None) -> None:
    found = temperature.hottest(plant(tmp_path, DESKTOP), named)
    assert (found and found.celsius) == celsius


def test_a_zone_is_found_by_its_name_in_hwmon(tmp_path: Path) -> None:
    root = plant(tmp_path, zone(0, "cpu-thermal", "50000"))
    assert temperature.hottest(root, "cpu_thermal") == Sensor("cpu-thermal", 50.0)


def test_a_disk_is_not_asked_where_the_processor_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    read_text = Path.read_text

    def spy(path: Path, encoding: str | None = None, errors: str | None = None) -> str:
        asked.append(os.path.relpath(path, tmp_path))
        return read_text(path, encoding=encoding, errors=errors)

    root = plant(tmp_path, zone(0, "cpu-thermal", "50000") | chip(0, "drivetemp", "35000"))
    monkeypatch.setattr(Path, "read_text", spy)
    temperature.hottest(root)
    assert "sys/class/thermal/thermal_zone0/temp" in asked
    assert "sys/class/hwmon/hwmon0/temp1_input" not in asked
