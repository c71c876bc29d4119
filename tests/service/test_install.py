"""`cosyvoiced install`, on a machine below a temporary folder."""

import os
import stat

import pytest

from daemon.commands import install
from daemon.service import plan, templates
from daemon.service.plan import Machine
from daemon.service.templates import ServiceError
from tests.service.machine import CONFIG, SHIPPED_CONFIG, SYSUSERS, UNIT, Runner, tree


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
