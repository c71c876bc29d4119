"""The unit files, read by systemd itself."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from daemon import configfile
from daemon.config import Config
from daemon.configfile import ConfigError
from daemon.service import templates

ROOT = Path(__file__).parents[2]
UNITS = ["systemd/cosyvoiced.service", "systemd/user/cosyvoiced.service"]
DEADLINE_S = 30.0

# Of systemd-analyze security, in tenths: 2.0, which it calls OK.
MOST_EXPOSURE = 20


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Something that can be started, at a path that a unit cannot take as it is."""
    path = tmp_path / "50% of $HOME; 厨房 (kitchen)" / "cosyvoiced"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def fitted(unit: str, program: Path, tmp_path: Path) -> Path:
    """The unit as it is installed."""
    path = tmp_path / "unit" / "cosyvoiced.service"
    path.parent.mkdir()
    path.write_text(templates.sealed(templates.with_program(templates.read(unit).unit, program)))
    return path


def analyze(*arguments: str, runtime: Path) -> subprocess.CompletedProcess[str]:
    # A user's manager wants a runtime folder, even if only to look at a unit.
    environ = {"PATH": os.environ["PATH"], "HOME": str(runtime), "XDG_RUNTIME_DIR": str(runtime)}
    command = ("systemd-analyze", "--no-pager", *arguments)
    return subprocess.run(
        command, capture_output=True, text=True, timeout=DEADLINE_S, check=False, env=environ
    )


def options(unit: str) -> list[tuple[str, str]]:
    lines = (ROOT / unit).read_text().splitlines()
    return [(name, value) for name, is_set, value in (line.partition("=") for line in lines) if is_set]


def values(unit: str, wanted: str) -> list[str]:
    return [value for name, value in options(unit) if name == wanted]


@pytest.mark.parametrize(("unit", "scope"), [(UNITS[0], "--system"), (UNITS[1], "--user")])
def test_systemd_finds_nothing_to_complain_about(
    unit: str, scope: str, program: Path, tmp_path: Path
) -> None:
    path = fitted(unit, program, tmp_path)
    verified = analyze(scope, "verify", "--recursive-errors=no", str(path), runtime=tmp_path)
    assert verified.returncode == 0, verified.stderr
    assert "cosyvoiced" not in verified.stderr  # a mistyped option is only a warning


@pytest.mark.parametrize("unit", UNITS)
def test_systemd_would_complain_about_a_missing_program(unit: str, tmp_path: Path) -> None:
    """What makes the test above one that can fail: systemd reads the path that we quote."""
    path = fitted(unit, tmp_path / "no such" / "cosyvoiced", tmp_path)
    verified = analyze("verify", "--recursive-errors=no", str(path), runtime=tmp_path)
    assert verified.returncode == 1
    assert f"{tmp_path}/no such/cosyvoiced is not executable" in verified.stderr


def test_the_system_service_is_well_caged(program: Path, tmp_path: Path) -> None:
    path = fitted(UNITS[0], program, tmp_path)
    arguments = ("security", "--offline=true", f"--threshold={MOST_EXPOSURE}", str(path))
    assessed = analyze(*arguments, runtime=tmp_path)
    assert "Overall exposure level for cosyvoiced.service" in assessed.stdout
    assert assessed.returncode == 0, assessed.stdout


def test_the_service_user_is_a_member_of_the_sound_group(tmp_path: Path) -> None:
    etc = tmp_path / "etc"
    etc.mkdir()
    (etc / "group").write_text("audio:x:29:\n")  # and no video
    (etc / "passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    shutil.copy(ROOT / "systemd/cosyvoiced.sysusers", tmp_path / "cosyvoiced.conf")
    made = subprocess.run(
        ["systemd-sysusers", f"--root={tmp_path}", str(tmp_path / "cosyvoiced.conf")],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    groups = dict(line.split(":", 1) for line in (etc / "group").read_text().splitlines())
    assert groups["audio"] == "x:29:cosyvoiced"
    assert groups["video"].endswith(":cosyvoiced")
    assert re.search(
        r"^cosyvoiced:x:\d+:\d+:[^:]*:/var/lib/cosyvoiced:.*nologin$", (etc / "passwd").read_text(), re.M
    )


@pytest.mark.parametrize("unit", UNITS)
def test_a_lasting_fault_never_ends_the_service_for_good(unit: str) -> None:
    assert values(unit, "Restart") == ["on-failure"]
    assert values(unit, "StartLimitIntervalSec") == ["0"]
    assert int(values(unit, "RestartSec")[0]) >= 5, "nor may it keep a core busy"


@pytest.mark.parametrize("unit", UNITS)
def test_a_mistake_of_the_user_is_not_tried_again(unit: str) -> None:
    assert values(unit, "RestartPreventExitStatus") == ["78 2"]


@pytest.mark.parametrize("unit", UNITS)
def test_each_line_from_hardening_on_has_its_reason_above(unit: str) -> None:
    text = (ROOT / unit).read_text()
    lines = text[text.index("# Hardening") : text.index("[Install]")].splitlines()
    settings = [index for index, line in enumerate(lines) if "=" in line and not line.startswith("#")]
    assert settings
    assert [lines[index] for index in settings if not lines[index - 1].startswith("# ")] == []


def test_what_speech_needs_stays_open() -> None:
    names = {name for name, _ in options(UNITS[0])}
    assert not names & {
        "MemoryDenyWriteExecute",
        "PrivateDevices",
        "PrivateUsers",
        "PrivateIPC",
        "ProcSubset",
    }
    assert "char-alsa rw" in values(UNITS[0], "DeviceAllow")
    assert all("AF_UNIX" in families for families in values(UNITS[0], "RestrictAddressFamilies"))


@pytest.mark.parametrize("unit", UNITS)
def test_without_their_files_there_is_no_password_and_no_token(
    unit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for credential in values(unit, "SetCredential"):
        name, _, value = credential.partition(":")
        (tmp_path / name).write_text(value.replace("\\n", "\n"))
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    monkeypatch.delenv("COSYVOICED_MQTT_PASSWORD", raising=False)
    assert configfile.mqtt_password(Config()) is None
    assert configfile.web_token(Config()) is None
    monkeypatch.setenv("COSYVOICED_MQTT_PASSWORD", "from environment")
    assert configfile.mqtt_password(Config()) == "from environment"


def test_a_credential_that_cannot_be_read_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mqtt-password").mkdir()
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    with pytest.raises(ConfigError, match=r"systemd credential: .*mqtt-password cannot be read"):
        configfile.mqtt_password(Config())


def test_relative_paths_of_the_configuration_land_in_the_state_folder() -> None:
    for unit in UNITS:
        (state,) = values(unit, "StateDirectory")
        assert values(unit, "WorkingDirectory") == [f"%S/{state}"]
