"""Free memory, swap, and how long programs wait for memory."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from daemon.watch import tree

_MEMINFO = re.compile(r"^(\w+):[ \t]+([0-9]{1,15}) kB$", re.MULTILINE)
_FULL_STALL = re.compile(r"^full avg10=([0-9]+(?:\.[0-9]+)?) ", re.MULTILINE)
_NO_LIMIT_BYTES = 2**60  # cgroup v1 has no word for "no limit" but the largest number that it can count


class Memory(NamedTuple):
    """None where the kernel does not tell."""

    available_bytes: int | None = None  # what programs can still take without swapping, within our limits
    total_bytes: int | None = None
    swap_total_bytes: int | None = None  # zram counts as swap
    swap_free_bytes: int | None = None
    stall_percent: float | None = None  # of the last 10 s, in which all tasks waited for memory


def read(root: Path) -> Memory:
    known = _meminfo(root)
    return Memory(
        available_bytes=_available_bytes(root, known),
        total_bytes=known.get("MemTotal"),
        swap_total_bytes=known.get("SwapTotal"),
        swap_free_bytes=known.get("SwapFree"),
        stall_percent=_stall_percent(root),
    )


def memory_available_bytes(root: Path) -> int | None:
    """What can still be taken: of the machine, or of the cgroup where its limit is nearer."""
    return _available_bytes(root, _meminfo(root))


def psi_is_on(root: Path) -> bool | None:
    """Whether the kernel tells how long programs wait for memory; None without /proc."""
    if tree.text(root / "proc/meminfo") is None:
        return None
    return _FULL_STALL.search(tree.text(root / "proc/pressure/memory") or "") is not None


def cgroup_memory_is_on(root: Path) -> bool | None:
    """Whether limits such as systemd's MemoryMax are obeyed; None where that cannot be seen."""
    controllers = tree.text(root / "sys/fs/cgroup/cgroup.controllers")
    table = tree.text(root / "proc/cgroups")
    if "memory" in (controllers or "").split():
        return True
    # The columns are name, hierarchy, number of groups, enabled; newer kernels list only what v1 can have.
    if re.search(r"^memory\s+\d+\s+\d+\s+1$", table or "", re.MULTILINE):
        return True
    return None if controllers is None and table is None else False


def _meminfo(root: Path) -> dict[str, int]:
    found = _MEMINFO.findall(tree.text(root / "proc/meminfo") or "")
    return {name: int(kib) * 1024 for name, kib in found}


def _available_bytes(root: Path, known: dict[str, int]) -> int | None:
    available = known.get("MemAvailable")
    if available is None and "MemFree" in known:  # kernels before 3.14
        available = sum(known.get(name, 0) for name in ("MemFree", "Buffers", "Cached"))
    left = [available] if available is not None else []
    left += [max(0, limit - used) for limit, used in _limits(root)]
    return min(left, default=None)


def _limits(root: Path) -> Iterator[tuple[int, int]]:
    """Limit and use in bytes of every memory cgroup that this process is in."""
    for folder in _cgroups(root):
        used = _used_bytes(folder, "memory.current", "inactive_file")
        for name in ("memory.max", "memory.high"):  # beyond `high` everything slows down; "max" is no number
            limit = tree.number(folder / name)
            if limit is not None and used is not None:
                yield limit, used
        limit = tree.number(folder / "memory.limit_in_bytes")
        used = _used_bytes(folder, "memory.usage_in_bytes", "total_inactive_file")
        if limit is not None and used is not None and limit < _NO_LIMIT_BYTES:
            yield limit, used


def _used_bytes(folder: Path, name: str, reclaimable: str) -> int | None:
    """What is in use, without the files' pages that the kernel gives up at once."""
    used = tree.number(folder / name)
    found = re.search(rf"^{reclaimable} ([0-9]+)$", tree.text(folder / "memory.stat") or "", re.MULTILINE)
    return None if used is None else max(0, used - int(found[1]) if found else used)


def _cgroups(root: Path) -> Iterator[Path]:
    """The folders of this process's cgroup, v2 or v1, and of all above it, innermost first."""
    for line in (tree.text(root / "proc/self/cgroup") or "").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if (number, controllers) == ("0", ""):
            mount = root / "sys/fs/cgroup"
        elif "memory" in controllers.split(","):
            mount = root / "sys/fs/cgroup/memory"
        else:
            continue
        # Seen from within a container the path may start above the mount; then only the mount itself is ours.
        inner = Path(path.lstrip("/"))
        if ".." not in inner.parts:
            yield from (mount / part for part in (inner, *inner.parents) if part != Path())
        yield mount


def _stall_percent(root: Path) -> float | None:
    """The larger of the machine's and of our own cgroup's.

    The machine's tells of others that suffer while we do nothing; ours of a limit that only we run into.
    """
    machine = tree.text(root / "proc/pressure/memory")
    own = next((said for folder in _cgroups(root) if (said := tree.text(folder / "memory.pressure"))), None)
    found = [_FULL_STALL.search(said) for said in (machine, own) if said]
    return max((float(match[1]) for match in found if match), default=None)
