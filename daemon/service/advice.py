"""How to bring this program within the reach of a service."""

import importlib.metadata
import importlib.util
import json
import shlex
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from daemon import __version__
from daemon.service.reach import Obstacle

PLACE = Path("/opt/cosyvoiced")

# extra -> what tells that it is installed here
_EXTRAS = {"cosyvoice3": "torch", "ja": "pyopenjtalk", "wyoming": "wyoming"}


def within_reach(obstacle: Obstacle) -> str:
    """What to do about a program that the service cannot read, as lines of a shell."""
    is_in_place = obstacle.path == PLACE or PLACE in obstacle.path.parents
    return f"  sudo chmod -R a+rX {PLACE}" if is_in_place else "\n".join(f"  {line}" for line in _copying())


def _copying() -> list[str]:
    """The commands that make a copy of this program in its place, and install that."""
    extras = ",".join(extra for extra, module in _EXTRAS.items() if importlib.util.find_spec(module))
    wanted = f"[{extras}]" if extras else ""
    source = _source()
    build: list[str] = []
    if source is None:
        package = f"cosyvoiced{wanted}=={__version__}"
    elif source.suffix == ".whl":
        package = f"{source}{wanted}"
    else:
        # Built by its owner, where nobody else can write: pip as root would leave root's files in the clone.
        wheels = shlex.quote(str(source / "dist"))
        build = [
            f"{shlex.quote(sys.executable)} -m pip wheel --no-deps -w {wheels} {shlex.quote(str(source))}"
        ]
        package = f"{source}/dist/cosyvoiced-{__version__}-py3-none-any.whl{wanted}"
    return [
        *build,
        f"sudo /usr/bin/python3 -m venv {PLACE}",
        f"sudo {PLACE}/bin/pip install {shlex.quote(package)}",
        f"sudo {PLACE}/bin/cosyvoiced install --system",
    ]


def _source() -> Path | None:
    """The clone or the wheel that was installed here; None: it came from an index. See PEP 610."""
    try:
        origin = importlib.metadata.distribution("cosyvoiced").read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        return Path(__file__).parents[2]
    url = urlsplit(json.loads(origin)["url"]) if origin else None
    return Path(unquote(url.path)) if url is not None and url.scheme == "file" else None
