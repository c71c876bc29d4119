"""A machine below a temporary folder, for `cosyvoiced install`."""

from pathlib import Path

from daemon.service.plan import Command, Machine

UNIT = Path("etc/systemd/system/cosyvoiced.service")
SYSUSERS = Path("etc/sysusers.d/cosyvoiced.conf")
CONFIG = Path("etc/cosyvoiced/cosyvoiced.yaml")
SHIPPED_CONFIG = (Path(__file__).parents[2] / "config/cosyvoiced.yaml").read_text()


class Runner:
    """Takes the commands instead of the system."""

    def __init__(self) -> None:
        self.commands: list[Command] = []

    def __call__(self, command: Command) -> None:
        self.commands.append(command)


def booted(folder: Path) -> Machine:
    """Boots with systemd; the program lies where a service can read it; run by root."""
    (folder / "run/systemd/system").mkdir(parents=True)
    (folder / "etc").mkdir()
    return Machine(Path("/opt/my voice/bin/cosyvoiced"), (), {"HOME": str(folder / "home")}, True, folder)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
