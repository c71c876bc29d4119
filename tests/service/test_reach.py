"""What a service can read, and how a program comes within its reach; templates, files and commands."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from daemon import cli
from daemon.commands import install
from daemon.service import advice, files, plan, reach, templates
from daemon.service.files import Placed, State
from daemon.service.plan import Command, Machine
from daemon.service.reach import Obstacle
from daemon.service.templates import ServiceError
from tests.service.machine import Runner, tree


def test_a_program_out_of_reach_is_refused_with_the_way_out(machine: Machine, runner: Runner) -> None:
    hidden = machine._replace(needed=(Path("/home/pi/cosyvoiced/.venv/bin/cosyvoiced"),))
    with pytest.raises(ServiceError) as refused:
        install.install_on(hidden, "system", False, runner)
    first, *commands = str(refused.value).splitlines()
    assert "/home/pi/cosyvoiced/.venv/bin/cosyvoiced is below /home" in first
    assert commands[-1] == "  sudo /opt/cosyvoiced/bin/cosyvoiced install --system"
    assert tree(machine.root) == {}
    assert install.install_on(hidden._replace(is_root=False), "user", False, runner) == 0


def test_a_copy_that_others_cannot_read_is_opened_not_copied_again() -> None:
    closed = Obstacle(Path("/opt/cosyvoiced/bin"), "is not open to other users (mode 0700)")
    assert advice.within_reach(closed) == "  sudo chmod -R a+rX /opt/cosyvoiced"


def test_what_the_distribution_installs_is_within_reach() -> None:
    assert reach.obstacle([Path("/usr/bin/env"), Path("/usr/lib")]) is None


def test_a_closed_folder_on_the_way_is_an_obstacle(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o750)
    (closed / "program").touch()
    found = reach.obstacle([Path("/usr/bin/env"), closed / "program"], hidden=[])
    assert found is not None
    assert found.path in (closed, *closed.parents)  # tmp_path may be closed itself
    assert "is not open to other users (mode 07" in found.reason


def test_the_far_end_of_a_link_counts_as_well(tmp_path: Path) -> None:
    """As of a virtual environment in /opt whose Python is one in /root."""
    link = tmp_path / "python"
    link.symlink_to("/usr/bin/env")
    found = reach.obstacle([link], hidden=[Path("/usr")])
    assert found == (link.resolve(), "is below /usr, which the service does not see")


def test_a_missing_file_is_an_obstacle() -> None:
    found = reach.obstacle([Path("/usr/no such file")])
    assert found == (Path("/usr/no such file"), "cannot be looked at (No such file or directory)")


@pytest.mark.parametrize("name", ['a"b', "a'b", "a\\b", "a\nb", "a\udcffb"])
def test_a_path_that_no_unit_can_name_is_refused(name: str) -> None:
    with pytest.raises(ServiceError, match="no systemd unit can name"):
        templates.with_program("ExecStart=/opt/cosyvoiced/bin/cosyvoiced run\n", Path("/opt") / name)


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (("no-such-command-here",), "`no-such-command-here` could not be run: No such file or directory"),
        (("sh", "-c", "echo it is broken >&2; exit 3"), "failed: it is broken"),
        (("false",), "`false` failed: exit code 1"),
    ],
)
def test_a_command_that_fails_is_one_sentence(command: Command, sentence: str) -> None:
    with pytest.raises(ServiceError) as failed:
        install.run(command)
    assert str(failed.value).endswith(sentence)


def test_a_command_that_hangs_has_a_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "COMMAND_DEADLINE_S", 0.1)
    with pytest.raises(ServiceError, match=r"did not end within 0\.1 s"):
        install.run(("sleep", "30"))


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    place = tmp_path / "unit"
    (place / "in the way").mkdir(parents=True)
    with pytest.raises(ServiceError, match=f"{place} cannot be written"):
        files.write(Placed(place, "text", is_ours=True))
    assert [path.name for path in tmp_path.iterdir()] == ["unit"]


def test_the_files_of_a_wheel_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the prefix, four folders away from where pip puts the packages."""
    packages = tmp_path / "lib/python3/site-packages"
    described = packages / "cosyvoiced-0.1.0.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: cosyvoiced\nVersion: 0.1.0\n")
    names = [templates.SYSTEM_UNIT, templates.USER_UNIT, templates.SYSUSERS, templates.CONFIG]
    record = "".join(f"../../../share/cosyvoiced/{name},,\n" for name in names)
    (described / "RECORD").write_text(record)
    for name in names:
        (tmp_path / "share/cosyvoiced" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "share/cosyvoiced" / name).write_text(f"the wheel's {name}")
    monkeypatch.setattr(templates, "_CLONE", packages)
    monkeypatch.syspath_prepend(packages)
    assert templates.read(templates.USER_UNIT) == (
        "the wheel's systemd/user/cosyvoiced.service",
        "the wheel's systemd/cosyvoiced.sysusers",
        "the wheel's config/cosyvoiced.yaml",
    )
    (tmp_path / "share/cosyvoiced" / templates.CONFIG).unlink()
    with pytest.raises(ServiceError, match="install cosyvoiced again"):
        templates.read(templates.USER_UNIT)


def test_a_wheel_carries_what_is_installed() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    carried = {
        f"{folder}/{Path(file).name}"
        for folder, names in project["tool"]["setuptools"]["data-files"].items()
        for file in names
    }
    names = (templates.SYSTEM_UNIT, templates.USER_UNIT, templates.SYSUSERS, templates.CONFIG)
    assert carried == {f"share/cosyvoiced/{name}" for name in names}


def test_what_is_sealed_shows_an_edit() -> None:
    sealed = templates.sealed("[Unit]\n").encode()
    assert not templates.is_edited(sealed)
    assert all(templates.is_edited(changed) for changed in (b"", b"[Unit]\n", sealed + b" ", sealed[1:]))


def test_this_machines_program_is_the_one_beside_its_python() -> None:
    assert plan.this_machine().program == Path(sys.executable).with_name("cosyvoiced")


def test_without_a_program_beside_python_it_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert cli.main(["install", "--system", "--dry-run"]) == 1
    assert f"{tmp_path}/cosyvoiced is not there" in capsys.readouterr().err


@pytest.mark.parametrize("scope", ["--system", "--user"])
def test_the_command_runs_from_any_folder(scope: str, tmp_path: Path) -> None:
    program = str(Path(sys.executable).with_name("cosyvoiced"))
    done = subprocess.run(
        [program, "install", scope, "--dry-run"],
        cwd="/",
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"ExecStart={program} run" in done.stdout.replace('"', "")
    assert list(tmp_path.iterdir()) == []


def test_the_state_of_a_place_is_told_apart(tmp_path: Path) -> None:
    place = Placed(tmp_path / "unit", templates.sealed("new\n"), is_ours=True)
    assert files.state(place) is State.NEW
    files.write(place._replace(content=templates.sealed("old\n")))
    assert files.state(place) is State.OUTDATED
    files.write(place)
    assert files.state(place) is State.SAME
    shutil.copy(__file__, place.path)
    assert files.state(place) is State.KEPT
