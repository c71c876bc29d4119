"""The files that are installed: found in a clone or in what pip installed, and fitted to the program."""

import hashlib
import importlib.metadata
from pathlib import Path
from typing import NamedTuple

from daemon.errors import CosyvoicedError

SYSTEM_UNIT = "systemd/cosyvoiced.service"
USER_UNIT = "systemd/user/cosyvoiced.service"
SYSUSERS = "systemd/cosyvoiced.sysusers"
CONFIG = "config/cosyvoiced.yaml"

_CLONE = Path(__file__).parents[2]
_SHARED = "share/cosyvoiced/"  # below the installation's prefix, see `data-files` in pyproject.toml
_PROGRAM = "/opt/cosyvoiced/bin/cosyvoiced"  # as the units are shipped
_MARK = "# Unchanged since `cosyvoiced install` wrote it, as long as this is the SHA-256 of what follows: "


class ServiceError(CosyvoicedError):
    """The service cannot be installed; the sentence says what to do."""


class Templates(NamedTuple):
    """The shipped files' texts."""

    unit: str
    sysusers: str
    config: str


def read(unit: str) -> Templates:
    """Reads the shipped files, with the unit of one scope. Raises `ServiceError`."""
    return Templates(_read(unit), _read(SYSUSERS), _read(CONFIG))


def with_program(unit: str, program: Path) -> str:
    """The unit, starting `program`. Raises `ServiceError`: no unit can name it."""
    return unit.replace(f"ExecStart={_PROGRAM} ", f"ExecStart={_quoted(program)} ")


def sealed(text: str) -> str:
    """With a first line that tells, later, whether somebody has edited what follows."""
    return f"{_MARK}{hashlib.sha256(text.encode()).hexdigest()}\n{text}"


def is_edited(content: bytes) -> bool:
    """Whether a file that is there is not as `sealed` made it."""
    try:
        first, _, rest = content.decode().partition("\n")
    except UnicodeDecodeError:
        return True
    return f"{first}\n{rest}" != sealed(rest)


def _read(name: str) -> str:
    path = _find(name)
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ServiceError(f"{path} cannot be read ({error}); install cosyvoiced again") from error


def _find(name: str) -> Path:
    in_clone = _CLONE / name
    if in_clone.is_file():
        return in_clone
    try:
        files = importlib.metadata.files("cosyvoiced") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.as_posix().endswith(_SHARED + name):
            return Path(str(file.locate())).resolve()
    raise ServiceError(f"{name} is missing from this installation; install cosyvoiced again")


def _quoted(program: Path) -> str:
    """A path as the first word of an ExecStart line, see systemd.service(5) and systemd.syntax(7).

    A `$` stays: variables are replaced in the arguments, not in the program's path.
    """
    path = str(program)
    # systemd itself refuses quotes and backslashes; what is not printable may not even be UTF-8.
    if not path.isprintable() or set(path) & set("\"'\\"):
        raise ServiceError(f"no systemd unit can name {path!r}; install cosyvoiced in another folder")
    escaped = path.replace("%", "%%")
    return f'"{escaped}"' if " " in path else escaped
