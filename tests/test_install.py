"""`cosyvoiced install`, on a machine below a temporary folder."""

import os
import shutil
import stat
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

UNIT = Path("etc/systemd/system/cosyvoiced.service")
SYSUSERS = Path("etc/sysusers.d/cosyvoiced.conf")
CONFIG = Path("etc/cosyvoiced/cosyvoiced.yaml")
SHIPPED_CONFIG = (Path(__file__).parents[1] / "config/cosyvoiced.yaml").read_text()


class Runner:
    """Takes the commands instead of the system."""

    def __init__(self) -> None:
        self.commands: list[Command] = []

    def __call__(self, command: Command) -> None:
        self.commands.append(command)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Boots with systemd; the program lies where a service can read it; run by root."""
    (tmp_path / "run/systemd/system").mkdir(parents=True)
    (tmp_path / "etc").mkdir()
    return Machine(Path("/opt/my voice/bin/cosyvoiced"), (), {"HOME": str(tmp_path / "home")}, True, tmp_path)


@pytest.fixture
def runner() -> Runner:
    return Runner()


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_system_service_is_written_and_made_known(
    machine: Machine, runner: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    assert install.install_on(machine, "system", False, runner) == 0
    assert set(tree(machine.root)) == {str(UNIT), str(SYSUSERS), str(CONFIG)}
    unit = (machine.root / UNIT).read_text()
    assert '\nExecStart="/opt/my voice/bin/cosyvoiced" run --config /etc/cosyvoiced/cosyvoiced.yaml\n' in unit
    assert (machine.root / CONFIG).read_text() == SHIPPED_CONFIG
    assert runner.commands == [
        ("systemd-sysusers", str(machine.root / SYSUSERS)),
        ("systemctl", "daemon-reload"),
    ]
    said = capsys.readouterr().out
    assert "systemctl enable --now cosyvoiced" in said
    assert "/etc/cosyvoiced/mqtt-password" in said
    assert "journalctl -u cosyvoiced -f" in said


def test_the_service_user_may_read_what_root_writes_with_a_narrow_umask(
    machine: Machine, runner: Runner
) -> None:
    before = os.umask(0o077)
    try:
        install.install_on(machine, "system", False, runner)
    finally:
        os.umask(before)
    assert stat.S_IMODE((machine.root / CONFIG).stat().st_mode) == 0o644
    assert stat.S_IMODE((machine.root / CONFIG).parent.stat().st_mode) == 0o755


def test_a_second_time_changes_nothing(
    machine: Machine, runner: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    install.install_on(machine, "system", False, runner)
    before = (machine.root / UNIT).stat()
    capsys.readouterr()
    assert install.install_on(machine, "system", False, runner) == 0
    assert (machine.root / UNIT).stat().st_ino == before.st_ino
    said = capsys.readouterr().out
    assert f"{UNIT}: is up to date\n" in said
    assert f"{CONFIG}: is your own and is left alone\n" in said


def test_a_configuration_that_is_there_stays(machine: Machine, runner: Runner) -> None:
    (machine.root / CONFIG).parent.mkdir()
    (machine.root / CONFIG).write_text("voice: mama\n")
    install.install_on(machine, "system", False, runner)
    assert (machine.root / CONFIG).read_text() == "voice: mama\n"


def test_a_configuration_that_is_a_dangling_link_stays(machine: Machine, runner: Runner) -> None:
    (machine.root / CONFIG).parent.mkdir()
    (machine.root / CONFIG).symlink_to("/mnt/not/mounted/now.yaml")
    install.install_on(machine, "system", False, runner)
    assert (machine.root / CONFIG).is_symlink()


def test_a_unit_of_an_earlier_version_is_brought_up_to_date(
    machine: Machine, runner: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    (machine.root / UNIT).parent.mkdir(parents=True)
    (machine.root / UNIT).write_text(templates.sealed("[Service]\nExecStart=/old/cosyvoiced run\n"))
    assert install.install_on(machine, "system", False, runner) == 0
    assert "/opt/my voice/" in (machine.root / UNIT).read_text()
    assert f"{UNIT}: brought up to date\n" in capsys.readouterr().out


@pytest.mark.parametrize("edit", [b"# mine\n", b"\xff\xfe\n", b"\r\n"])
def test_a_unit_edited_by_hand_is_left_alone_and_nothing_else_is_touched(
    machine: Machine, runner: Runner, edit: bytes
) -> None:
    install.install_on(machine, "system", False, runner)
    path = machine.root / UNIT
    path.write_bytes(path.read_bytes() + edit)
    (machine.root / SYSUSERS).unlink()
    before = tree(machine.root)
    with pytest.raises(ServiceError, match=r"edited by hand.*sudo systemctl edit cosyvoiced"):
        install.install_on(machine, "system", False, runner)
    assert tree(machine.root) == before


def test_a_unit_by_somebody_else_and_a_masked_one_are_left_alone(machine: Machine, runner: Runner) -> None:
    path = machine.root / UNIT
    path.parent.mkdir(parents=True)
    path.write_text("")
    with pytest.raises(ServiceError, match="edited by hand"):
        install.install_on(machine, "system", False, runner)
    path.unlink()
    path.symlink_to("/dev/null")
    with pytest.raises(ServiceError, match=r"systemctl unmask cosyvoiced"):
        install.install_on(machine, "system", False, runner)
    assert path.is_symlink()


def test_a_folder_in_the_units_place_is_one_sentence(machine: Machine, runner: Runner) -> None:
    (machine.root / UNIT).mkdir(parents=True)
    with pytest.raises(ServiceError, match=r"cosyvoiced.service is there and cannot be read: Is a directory"):
        install.install_on(machine, "system", False, runner)


def test_a_place_that_cannot_be_written_is_one_sentence(machine: Machine, runner: Runner) -> None:
    (machine.root / "etc/systemd").write_text("a file where a folder should be")
    with pytest.raises(ServiceError, match=r"cannot be written: (Not a directory|File exists)"):
        install.install_on(machine, "system", False, runner)
    assert runner.commands == []


@pytest.mark.parametrize("scope", ["system", "user"])
def test_a_dry_run_shows_all_and_changes_nothing(
    machine: Machine, runner: Runner, scope: plan.Scope, capsys: pytest.CaptureFixture[str]
) -> None:
    assert install.install_on(machine._replace(is_root=False), scope, True, runner) == 0
    assert tree(machine.root) == {}
    assert runner.commands == []
    said = capsys.readouterr().out
    assert 'ExecStart="/opt/my voice/bin/cosyvoiced" run' in said
    assert "daemon-reload" in said
    assert "enable --now cosyvoiced" in said


def test_a_dry_run_tells_what_would_be_refused(
    machine: Machine, runner: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    assert install.install_on(machine._replace(is_root=False), "system", True, runner) == 0
    assert "refused: writing to /etc needs root" in capsys.readouterr().err


def test_without_root_it_says_what_to_type(machine: Machine, runner: Runner) -> None:
    with pytest.raises(ServiceError, match=r"run: sudo '/opt/my voice/bin/cosyvoiced' install --system$"):
        install.install_on(machine._replace(is_root=False), "system", False, runner)
    assert tree(machine.root) == {}


def test_where_systemd_does_not_run_its_commands_are_left_to_the_user(
    machine: Machine, runner: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    (machine.root / "run/systemd/system").rmdir()
    assert install.install_on(machine, "system", False, runner) == 0
    assert runner.commands == []
    assert "  systemctl daemon-reload\n" in capsys.readouterr().out


def test_the_user_service_goes_below_the_configuration_home(
    machine: Machine, runner: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    runtime = machine.root / "runtime"
    (runtime / "systemd").mkdir(parents=True)
    (runtime / "systemd/private").touch()
    home = machine.root / "ho me"
    environ = {"HOME": str(home), "XDG_CONFIG_HOME": "not/absolute", "XDG_RUNTIME_DIR": str(runtime)}
    user = machine._replace(is_root=False, environ=environ)
    assert install.install_on(user, "user", False, runner) == 0
    assert set(tree(home)) == {
        ".config/systemd/user/cosyvoiced.service",
        ".config/cosyvoiced/cosyvoiced.yaml",
    }
    assert stat.S_IMODE((home / ".config").stat().st_mode) == 0o700
    assert runner.commands == [("systemctl", "--user", "daemon-reload")]
    said = capsys.readouterr().out
    assert "loginctl enable-linger" in said
    assert f"'{home}/.config/cosyvoiced'/mqtt-password" in said


@pytest.mark.parametrize("runtime", ["", "/no such folder", "/" + "x" * 300])
def test_without_a_systemd_of_the_user_its_command_is_left_to_the_user(
    machine: Machine, runner: Runner, runtime: str, capsys: pytest.CaptureFixture[str]
) -> None:
    user = machine._replace(is_root=False, environ={**machine.environ, "XDG_RUNTIME_DIR": runtime})
    assert install.install_on(user, "user", False, runner) == 0
    assert runner.commands == []
    assert "  systemctl --user daemon-reload\n" in capsys.readouterr().out


def test_the_user_service_is_for_a_user(machine: Machine, runner: Runner) -> None:
    with pytest.raises(ServiceError, match="without sudo"):
        install.install_on(
            machine._replace(environ={"SUDO_USER": "pi", "HOME": "/root"}), "user", False, runner
        )
    with pytest.raises(ServiceError, match="HOME is not set"):
        install.install_on(machine._replace(environ={}), "user", False, runner)


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
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
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
