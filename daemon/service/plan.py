"""What an installation consists of: decided from the machine, before anything is written."""

import os
import shlex
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from daemon.service import templates
from daemon.service.files import Placed
from daemon.service.templates import ServiceError

Scope = Literal["system", "user"]
Command = tuple[str, ...]


class Machine(NamedTuple):
    """What an installation depends on."""

    program: Path  # the `cosyvoiced` that the service will run
    needed: tuple[Path, ...]  # what the program reads to run
    environ: Mapping[str, str]
    is_root: bool
    root: Path = Path("/")

    @property
    def runs_systemd(self) -> bool:
        """As sd_booted(3) sees it."""
        return os.path.isdir(self.root / "run/systemd/system")

    @property
    def has_user_manager(self) -> bool:
        """Whether `systemctl --user` has somebody to talk to."""
        runtime = self.environ.get("XDG_RUNTIME_DIR", "")
        # Not by pathlib, which raises where the folder is another user's, as after `su`.
        return self.runs_systemd and runtime != "" and os.path.exists(f"{runtime}/systemd/private")


class Plan(NamedTuple):
    """An installation."""

    unit: Placed
    others: tuple[Placed, ...]
    commands: tuple[Command, ...]
    can_run: bool  # else the commands are left to the user
    next_steps: str


def this_machine() -> Machine:
    """The machine that we run on. Raises `ServiceError`: there is no program to start."""
    program = Path(sys.executable).absolute().with_name("cosyvoiced")
    if not os.access(program, os.X_OK):
        raise ServiceError(f"{program} is not there; install cosyvoiced with pip into this Python")
    python = (Path(sys.executable), Path(os.__file__), Path(sysconfig.get_path("purelib")))
    return Machine(program, (program, *python, Path(__file__)), dict(os.environ), os.geteuid() == 0)


def plan(scope: Scope, machine: Machine) -> Plan:
    """What is to be written and run. Raises `ServiceError`."""
    return _system(machine) if scope == "system" else _user(machine)


def _system(machine: Machine) -> Plan:
    shipped = templates.read(templates.SYSTEM_UNIT)
    etc = machine.root / "etc"
    unit = templates.sealed(templates.with_program(shipped.unit, machine.program))
    sysusers = etc / "sysusers.d/cosyvoiced.conf"
    return Plan(
        Placed(etc / "systemd/system/cosyvoiced.service", unit, is_ours=True),
        (
            Placed(sysusers, templates.sealed(shipped.sysusers), is_ours=True),
            Placed(etc / "cosyvoiced/cosyvoiced.yaml", shipped.config, is_ours=False),
        ),
        (("systemd-sysusers", str(sysusers)), ("systemctl", "daemon-reload")),
        machine.runs_systemd,
        _SYSTEM_STEPS,
    )


def _user(machine: Machine) -> Plan:
    shipped = templates.read(templates.USER_UNIT)
    folder = _config_home(machine.environ)
    unit = templates.sealed(templates.with_program(shipped.unit, machine.program))
    config = folder / "cosyvoiced/cosyvoiced.yaml"
    private = 0o700  # the XDG base directory specification
    return Plan(
        Placed(folder / "systemd/user/cosyvoiced.service", unit, is_ours=True, folder_mode=private),
        (Placed(config, shipped.config, is_ours=False, folder_mode=private),),
        (("systemctl", "--user", "daemon-reload"),),
        machine.has_user_manager,
        _USER_STEPS.format(folder=shlex.quote(str(config.parent))),
    )


def _config_home(environ: Mapping[str, str]) -> Path:
    """`$XDG_CONFIG_HOME`, which counts only if absolute, else `~/.config`."""
    named = environ.get("XDG_CONFIG_HOME", "")
    if named.startswith("/"):
        return Path(named)
    if not environ.get("HOME", "").startswith("/"):
        raise ServiceError("HOME is not set, so there is no place for a user's service")
    return Path(environ["HOME"]) / ".config"


_SYSTEM_STEPS = """\
Settings, if the defaults do not suit:
  sudoedit /etc/cosyvoiced/cosyvoiced.yaml
The broker's password, if it wants one:
  sudo sh -c 'umask 077; systemd-ask-password "MQTT password:" > /etc/cosyvoiced/mqtt-password'
Start now and at every boot (if it runs already: sudo systemctl restart cosyvoiced):
  sudo systemctl enable --now cosyvoiced
What it says:
  journalctl -u cosyvoiced -f"""

_USER_STEPS = """\
Settings, if the defaults do not suit:
  {folder}/cosyvoiced.yaml
The broker's password, if it wants one:
  (umask 077; systemd-ask-password "MQTT password:" > {folder}/mqtt-password)
Start now and at every login (if it runs already: systemctl --user restart cosyvoiced):
  systemctl --user enable --now cosyvoiced
Start at boot and go on after logging out:
  loginctl enable-linger
What it says:
  journalctl --user -u cosyvoiced -f"""
