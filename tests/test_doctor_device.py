"""`cosyvoiced doctor` says how the device is, and the commands that make it better."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import pytest

from cosyvoice.weights import manifest
from daemon.commands import doctor_device
from daemon.commands.finding import Finding
from daemon.config import Config, CosyVoice3, Disk, Outputs, State, Watch
from tests.watch.trees import chip, plant, vcgencmd, zone

MIB = 2**20
PRESSURE = "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n"
CONTROLLERS = "sys/fs/cgroup/cgroup.controllers"


class Usage(NamedTuple):
    total: int
    used: int
    free: int


def meminfo(total_mib: int = 8192, free_mib: int = 6000, swap_mib: float = 2048) -> dict[str, str]:
    text = f"MemTotal: {total_mib * 1024} kB\nMemAvailable: {free_mib * 1024} kB\n"
    return {"proc/meminfo": text + f"SwapTotal: {swap_mib * 1024:.0f} kB\nSwapFree: 0 kB\n"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A machine on which all is well."""
    files = meminfo() | {
        "proc/pressure/memory": PRESSURE,
        CONTROLLERS: "cpu io memory pids\n",
        "proc/cmdline": "console=tty1 root=/dev/mmcblk0p2 rootwait\n",
    }
    return vcgencmd(plant(tmp_path, {**files, **zone(0, "cpu-thermal", "52345\n")}), "echo throttled=0x0")


def examine(
    root: Path,
    engine: Literal["auto", "builtin", "cosyvoice3"] = "auto",
    sensor: str | None = None,
    disk: Disk | None = None,
) -> list[Finding]:
    config = Config(
        engine=engine,
        state=State(path=str(root / "state")),
        outputs=Outputs(path=str(root / "outputs")),
        cosyvoice3=CosyVoice3(model=str(root / "model")),
        watch=Watch(root=str(root), sensor=sensor, disk=disk or Disk()),
    )
    return list(doctor_device.examine(config))


def told(findings: list[Finding], part: str) -> Finding:
    (finding,) = (finding for finding in findings if finding.part == part)
    return finding


def prepare(root: Path) -> None:
    plant(root, {f"model/{manifest.FILE}": "{}"})


def test_where_all_is_well_nothing_is_to_be_done(root: Path) -> None:
    findings = examine(root)
    assert {finding.level for finding in findings} == {"ok"}
    assert {finding.part for finding in findings} == {"heat", "power", "memory", "swap", "disk"}
    assert told(findings, "heat").what == "52.3 °C by cpu-thermal"


def test_an_empty_machine_is_unknown_and_no_problem(tmp_path: Path) -> None:
    findings = examine(tmp_path)
    assert "problem" not in {finding.level for finding in findings}
    assert told(findings, "heat").what == "no temperature sensor is found; heat is unknown"
    assert "unknown" in told(findings, "memory").what


@pytest.mark.parametrize(
    ("millidegrees", "level"), [("74999", "ok"), ("75000", "note"), ("84000", "problem")]
)
def test_heat_is_told_as_the_daemon_sees_it(root: Path, millidegrees: str, level: str) -> None:
    plant(root, zone(0, "cpu-thermal", millidegrees))
    assert told(examine(root), "heat").level == level


def test_a_named_sensor_that_is_missing_is_told_with_those_that_exist(root: Path) -> None:
    plant(root, chip(0, "coretemp", "50000", "51000", labels=("Core 0", "Core 0")))
    finding = told(examine(root, sensor="oven"), "heat")
    assert finding.level == "problem"
    assert finding.what == "watch.sensor 'oven' says nothing; these do: coretemp/Core 0, cpu-thermal"
    assert told(examine(root, sensor="Core 0"), "heat").what == "51.0 °C by coretemp/Core 0"


@pytest.mark.parametrize(
    ("bits", "levels", "words"),
    [
        ("0x50005", ["problem", "note"], ["is too weak", "slows the processor now"]),
        ("0x50000", ["note", "note"], ["was too weak", "has slowed the processor since"]),
        ("0xe0008", ["ok", "note"], ["strong enough", "slows the processor now"]),
    ],
)
def test_power_and_heat_are_told_apart(root: Path, bits: str, levels: list[str], words: list[str]) -> None:
    vcgencmd(root, f"echo throttled={bits}")
    findings = [finding for finding in examine(root) if finding.part == "power"]
    assert [finding.level for finding in findings] == levels
    for finding, expected in zip(findings, words, strict=True):
        assert expected in finding.what
    weak, slowed = findings
    assert ("27 W" in (weak.do or "")) == (weak.level != "ok")
    assert (slowed.do is None) == (weak.level != "ok"), "the supply is to blame, not the heat"


def test_the_memory_that_the_engines_want_is_told(root: Path) -> None:
    assert told(examine(root), "memory").what == "6000 of 8192 MiB are free; the built-in engine wants 600"
    prepare(root)
    assert told(examine(root), "memory").what.endswith("wants 600, cosyvoice3 1734")
    assert told(examine(root, "builtin"), "memory").what.endswith("wants 600")


@pytest.mark.parametrize(("total", "free"), [(512, 300), (1024, 599)])
def test_too_little_memory_is_a_problem(root: Path, total: int, free: int) -> None:
    finding = told(examine(plant(root, meminfo(total, free))), "memory")
    assert finding.level == "problem"
    assert str(free if total > 600 else total) in finding.what
    assert finding.do is not None


@pytest.mark.parametrize("swap_mib", [0, 100, 512, 1900])
def test_too_little_swap_is_told_where_cosyvoice3_may_speak(root: Path, swap_mib: int) -> None:
    plant(root, meminfo(swap_mib=swap_mib))
    assert told(examine(root), "swap").level == "ok"
    prepare(root)
    finding = told(examine(root), "swap")
    assert finding.level == "note"
    assert finding.what.startswith(f"{swap_mib} MiB; cosyvoice3 wants 2048")
    assert told(examine(root, "builtin"), "swap").level == "ok"


@pytest.mark.parametrize("enough", [meminfo(swap_mib=2048 - 4 / 1024), meminfo(total_mib=16_000, swap_mib=0)])
def test_swap_with_its_header_or_a_large_memory_is_enough(root: Path, enough: Mapping[str, str]) -> None:
    prepare(root)
    assert told(examine(plant(root, enough)), "swap").level == "ok"


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("etc/rpi/swap.conf", "/etc/rpi/swap.conf.d/90-cosyvoiced.conf"),
        ("etc/dphys-swapfile", "CONF_SWAPSIZE=2048"),
        ("etc/fstab", "fallocate -l 2048M /swapfile && "),
        ("swapfile", "fallocate -l 2048M /swapfile-cosyvoiced && "),
    ],
)
def test_the_commands_for_swap_suit_the_system(root: Path, file: str, command: str) -> None:
    prepare(root)
    do = told(examine(plant(root, {**meminfo(swap_mib=0), file: "x\n"})), "swap").do or ""
    assert command in do
    subprocess.run(["/bin/sh", "-n", "-c", do], check=True, timeout=10)


def run_on(root: Path, commands: str) -> None:
    """Runs what doctor shows, on the fake tree, without what only root may and without rebooting."""
    plant(root, {"bin/sudo": '#!/bin/sh\ncase "$1" in reboot|dphys-swapfile) ;; *) "$@";; esac\n'})
    (root / "bin/sudo").chmod(0o755)
    for folder in ("/etc/", "/boot/"):
        commands = commands.replace(f" {folder}", f" {root}{folder}")
    path = f"{root / 'bin'}:{os.environ['PATH']}"
    subprocess.run(["/bin/sh", "-ec", commands], check=True, timeout=10, env={"PATH": path})


@pytest.mark.parametrize("before", ["CONF_SWAPSIZE=512", "#CONF_SWAPSIZE="])
def test_the_commands_for_swap_change_the_files(root: Path, before: str) -> None:
    prepare(root)
    plant(root, {**meminfo(swap_mib=0), "etc/dphys-swapfile": f"#CONF_MAXSWAP=2048\n{before}\n"})
    run_on(root, told(examine(root), "swap").do or "")
    assert (root / "etc/dphys-swapfile").read_text() == "#CONF_MAXSWAP=2048\nCONF_SWAPSIZE=2048\n"
    plant(root, {"etc/rpi/swap.conf": "[Main]\n"})
    run_on(root, told(examine(root), "swap").do or "")
    written = (root / "etc/rpi/swap.conf.d/90-cosyvoiced.conf").read_text()
    assert written == "[Main]\nMechanism=swapfile\n[File]\nFixedSizeMiB=2048\n"


def test_a_pi_is_told_how_to_turn_on_what_its_kernel_hides(root: Path) -> None:
    (root / "proc/pressure/memory").unlink()
    line = (root / "proc/cmdline").read_text()
    plant(
        root, {CONTROLLERS: "cpu io pids\n", "boot/firmware/cmdline.txt": line, "boot/cmdline.txt": "moved"}
    )
    finding = told(examine(root), "kernel")
    assert finding.level == "note"
    assert finding.what.startswith("the memory cgroup is off")
    assert "PSI is off" in finding.what
    run_on(root, finding.do or "")
    written = (root / "boot/firmware/cmdline.txt").read_text()
    assert written == line.strip() + " cgroup_enable=memory cgroup_memory=1 psi=1\n"
    shutil.copy(root / "boot/firmware/cmdline.txt", root / "proc/cmdline")
    assert told(examine(root), "kernel").do == "update the system: its kernel lacks them"


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("boot/cmdline.txt", "/ psi=1/' /boot/cmdline.txt"),
        ("boot/armbianEnv.txt", "extraargs="),
        ("etc/default/grub", "update-grub"),
        ("etc/hostname", "add psi=1 to the kernel's command line"),
    ],
)
def test_each_system_has_its_own_place_for_the_kernels_words(root: Path, file: str, words: str) -> None:
    (root / "proc/pressure/memory").unlink()
    finding = told(examine(plant(root, {file: "x\n"})), "kernel")
    assert words in (finding.do or "")
    assert "cgroup" not in finding.what + (finding.do or "")


@pytest.mark.parametrize(
    ("free_mib", "level", "words"),
    [
        (501, "ok", "0.5 GiB free"),
        (499, "problem", "499"),
        (255, "problem", "old files"),
        (31, "problem", "no new"),
    ],
)
def test_free_space_is_told_as_the_daemon_sees_it(
    root: Path, free_mib: int, level: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(2**40, 0, free_mib * MIB))
    findings = [finding for finding in examine(root) if finding.part == "disk"]
    assert [finding.level for finding in findings] == [level, level]
    assert all(words in finding.what for finding in findings)


def test_a_folder_that_cannot_be_written_is_quoted_for_the_shell(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = root / "my 'files'"
    folder.mkdir()
    monkeypatch.setattr(os, "access", lambda *_: False)
    config = Config(outputs=Outputs(path=str(folder / "wav")), watch=Watch(root=str(root)))
    finding = next(finding for finding in doctor_device.examine(config) if finding.part == "disk")
    assert finding.level == "problem"
    assert shlex.split(finding.do or "")[-1] == str(folder)
