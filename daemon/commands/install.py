"""`cosyvoiced install`: writes the systemd unit and what belongs to it, and says how to start it."""

import shlex
import subprocess
import sys
from collections.abc import Callable

from daemon.service import advice, files, reach
from daemon.service import plan as plans
from daemon.service.files import Placed, State
from daemon.service.plan import Command, Machine, Plan, Scope
from daemon.service.templates import ServiceError

COMMAND_DEADLINE_S = 60.0  # daemon-reload reads every unit again; a busy Pi with an old card takes seconds

_WRITTEN = {State.NEW: "written", State.OUTDATED: "brought up to date"}
_LEFT = {State.SAME: "is up to date", State.KEPT: "is your own and is left alone"}


def install(scope: Scope, dry_run: bool) -> int:
    """Installs the service, or shows what that would do; the exit code. Raises `ServiceError`."""
    return install_on(plans.this_machine(), scope, dry_run, run)


def install_on(machine: Machine, scope: Scope, dry_run: bool, run: Callable[[Command], None]) -> int:
    """Installs on a machine, running commands by `run`. Raises `ServiceError`; then nothing is changed."""
    plan = plans.plan(scope, machine)
    states = {file: files.state(file) for file in (plan.unit, *plan.others)}
    problem = refusal(scope, machine, plan, states)
    if dry_run:
        _show(plan, states)
        if problem is not None:
            print(f"cosyvoiced: it would be refused: {problem}", file=sys.stderr)
        return 0
    if problem is not None:
        raise ServiceError(problem)
    for file, state in states.items():
        if state in _WRITTEN:
            files.write(file)
        print(f"{file.path}: {_WRITTEN.get(state) or _LEFT[state]}")
    if plan.can_run:
        for command in plan.commands:
            run(command)
    else:
        _show_commands("No systemd answers here. Where it does, run:", plan)
    print(f"\n{plan.next_steps}")
    return 0


def refusal(scope: Scope, machine: Machine, plan: Plan, states: dict[Placed, State]) -> str | None:
    """Why this installation would be wrong, and what to do instead; None if it is well."""
    if scope == "system":
        if (found := reach.obstacle(machine.needed)) is not None:
            what = f"{found.path} {found.reason}"
            return f"the service could not run this program: {what}; do this:\n{advice.within_reach(found)}"
        if not machine.is_root:
            program = shlex.quote(str(machine.program))
            return f"writing to /etc needs root; run: sudo {program} install --system"
    elif machine.is_root and "SUDO_USER" in machine.environ:
        return "this installs for the one logged in; run it without sudo"
    if states[plan.unit] is State.KEPT:
        return _keep(scope, plan.unit)
    return None


def run(command: Command) -> None:
    """Runs one command of the system. Raises `ServiceError`."""
    shown = shlex.join(command)
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=COMMAND_DEADLINE_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ServiceError(f"`{shown}` did not end within {COMMAND_DEADLINE_S:g} s; run it again") from error
    except OSError as error:
        raise ServiceError(f"`{shown}` could not be run: {error.strerror}") from error
    if done.returncode != 0:
        said = done.stderr.split("\n")[0].strip() or f"exit code {done.returncode}"
        raise ServiceError(f"`{shown}` failed: {said}")


def _keep(scope: Scope, unit: Placed) -> str:
    systemctl = "sudo systemctl" if scope == "system" else "systemctl --user"
    if unit.path.is_symlink():
        return (
            f"{unit.path} is a link and is left alone; "
            f"remove it with `{systemctl} unmask cosyvoiced` or by hand, and install again"
        )
    return (
        f"{unit.path} was edited by hand and is left alone; "
        f"move your changes to `{systemctl} edit cosyvoiced`, delete the file, and install again"
    )


def _show(plan: Plan, states: dict[Placed, State]) -> None:
    """Prints what an installation would do."""
    for file, state in states.items():
        if state in _WRITTEN:
            print(f"{file.path}: would be {_WRITTEN[state]}" + (":" if file.is_ours else ""))
        else:
            print(f"{file.path}: {_LEFT[state]}")
        if file.is_ours:
            print(f"\n{file.content}")
    _show_commands("Then would run:" if plan.can_run else "Where systemd answers, would run:", plan)
    print(f"\n{plan.next_steps}")


def _show_commands(title: str, plan: Plan) -> None:
    print(f"\n{title}")
    for command in plan.commands:
        print(f"  {shlex.join(command)}")
