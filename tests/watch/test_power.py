"""What a Raspberry Pi's firmware says: too little voltage or too much heat, now or before."""

import time
from pathlib import Path

import pytest

from daemon.watch import power
from daemon.watch.power import Power
from tests.watch.trees import UNREADABLE, plant, vcgencmd

PI_4 = "sys/devices/platform/soc/soc:firmware/get_throttled"
PI_5 = "sys/devices/platform/soc@107c000000/soc@107c000000:firmware/get_throttled"
FINE = Power(undervoltage=False, slowed=False, undervoltage_happened=False, slowed_happened=False)


@pytest.mark.parametrize(
    ("bits", "expected"),
    [
        ("0x0", FINE),
        ("0x50005", Power(True, True, True, True)),
        ("0x50000", Power(False, False, True, True)),
        ("0xe0008", Power(False, True, False, True)),
        ("0x10001", Power(True, False, True, False)),
        ("0x2", Power(False, True, False, False)),
    ],
)
def test_the_bits_mean_what_the_firmware_says(tmp_path: Path, bits: str, expected: Power) -> None:
    assert power.read(vcgencmd(tmp_path, f"echo throttled={bits}")) == expected
    (tmp_path / "usr/bin/vcgencmd").unlink()
    # The kernel's file has no prefix.
    assert power.read(plant(tmp_path, {PI_4: bits.removeprefix("0x") + "\n"})) == expected


@pytest.mark.parametrize("file", [PI_4, PI_5])
def test_the_kernels_file_is_found_on_every_model(tmp_path: Path, file: str) -> None:
    assert power.read(plant(tmp_path, {file: "e0008\n"})).slowed


def test_the_file_is_cheaper_and_the_program_remembers(tmp_path: Path) -> None:
    root = plant(vcgencmd(tmp_path, "echo throttled=0x50000"), {PI_4: "0\n"})
    assert power.read(root) == FINE
    assert power.read(root, since_boot=True) == Power(False, False, True, True)


def test_the_program_may_be_in_the_old_place(tmp_path: Path) -> None:
    assert power.read(vcgencmd(tmp_path, "echo throttled=0x1", "opt/vc/bin")).undervoltage


def test_other_machines_tell_nothing(tmp_path: Path) -> None:
    assert power.read(tmp_path) == Power()


@pytest.mark.parametrize(
    "script",
    [
        "echo throttled=0x0; exit 1",
        "echo VCHI initialization failed",
        "echo 'error=1 error_msg=\"Command not registered\"'",
        "exit 0",
        "printf '\\377\\376'",
        "kill -9 $$",
    ],
)
def test_a_program_that_fails_tells_nothing(tmp_path: Path, script: str) -> None:
    assert power.read(vcgencmd(tmp_path, script)) == Power()


def test_a_program_that_cannot_be_run_tells_nothing(tmp_path: Path) -> None:
    assert power.read(plant(tmp_path, {"usr/bin/vcgencmd": "\x7fELF of another machine"})) == Power()
    (tmp_path / "usr/bin/vcgencmd").chmod(0o755)
    assert power.read(tmp_path) == Power()


def test_a_silent_firmware_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power, "VCGENCMD_DEADLINE_S", 0.2)
    started_s = time.monotonic()
    assert power.read(vcgencmd(tmp_path, "exec sleep 30")) == Power()
    assert time.monotonic() - started_s < 5


@pytest.mark.parametrize("text", ["garbage", "", "0x", "throttled=", "-1", "123456789", UNREADABLE])
def test_garbage_tells_nothing_and_hides_nothing(tmp_path: Path, text: str | None) -> None:
    root = plant(tmp_path, {PI_4: text})
    assert power.read(root) == Power()
    assert power.read(vcgencmd(root, "echo throttled=0x50005")).undervoltage


def test_the_kernels_alarm_is_heard_without_the_firmware_and_beside_it(tmp_path: Path) -> None:
    hwmon = "sys/class/hwmon/hwmon2"
    root = plant(tmp_path, {f"{hwmon}/name": "rpi_volt\n", f"{hwmon}/in0_lcrit_alarm": "0\n"})
    assert power.read(root) == Power(undervoltage=False)
    (root / hwmon / "in0_lcrit_alarm").write_text("1\n")
    assert power.read(root) == Power(undervoltage=True, undervoltage_happened=True)
    # A dip between two looks: the firmware's bit of this instant is off again.
    assert power.read(vcgencmd(root, "echo throttled=0x0")) == Power(True, False, True, False)
    (root / hwmon / "in0_lcrit_alarm").unlink()
    assert power.read(root) == FINE
