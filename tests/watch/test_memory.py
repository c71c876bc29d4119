"""Free memory is the least that the machine and our cgroups leave; what the kernel hides is unknown."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from daemon.watch import memory
from daemon.watch.memory import Memory
from tests.watch.trees import UNREADABLE, plant

MIB = 2**20
MEMINFO = """MemTotal:        8256000 kB
MemFree:         1024000 kB
MemAvailable:    6144000 kB
Buffers:           10240 kB
Cached:          2048000 kB
Active(anon):        100 kB
SwapTotal:       2097136 kB
SwapFree:        2097000 kB
HugePages_Total:       0
"""
PRESSURE = "some avg10=9.00 avg60=0.00 avg300=0.00 total=1\nfull avg10={} avg60=0.00 avg300=0.00 total=1\n"
SERVICE = "sys/fs/cgroup/system.slice/cosyvoiced.service"
V2 = {"proc/meminfo": MEMINFO, "proc/self/cgroup": "0::/system.slice/cosyvoiced.service\n"}


def available_mib(root: Path, files: Mapping[str, str | None]) -> float | None:
    found = memory.memory_available_bytes(plant(root, files))
    assert memory.read(root).available_bytes == found
    return None if found is None else found / MIB


def test_what_meminfo_says(tmp_path: Path) -> None:
    assert memory.read(plant(tmp_path, {"proc/meminfo": MEMINFO})) == Memory(
        available_bytes=6144000 * 1024,
        total_bytes=8256000 * 1024,
        swap_total_bytes=2097136 * 1024,
        swap_free_bytes=2097000 * 1024,
    )


def test_an_old_kernel_does_not_say_what_is_available(tmp_path: Path) -> None:
    old = "\n".join(line for line in MEMINFO.splitlines() if "Available" not in line)
    assert available_mib(tmp_path, {"proc/meminfo": old}) == (1024000 + 10240 + 2048000) / 1024


@pytest.mark.parametrize("text", ["", "MemAvailable: many kB", "\0\0\xff", "MemTotal 5 kB", UNREADABLE])
def test_garbage_is_unknown(tmp_path: Path, text: str | None) -> None:
    assert memory.read(plant(tmp_path, {"proc/meminfo": text})) == Memory()


def test_the_limit_of_the_service_leaves_less(tmp_path: Path) -> None:
    files = {
        **V2,
        f"{SERVICE}/memory.max": f"{1024 * MIB}\n",
        f"{SERVICE}/memory.high": "max\n",
        f"{SERVICE}/memory.current": f"{800 * MIB}\n",
        f"{SERVICE}/memory.stat": f"anon 1\ninactive_file {100 * MIB}\nactive_file 7\n",
    }
    assert available_mib(tmp_path, files) == 324
    files[f"{SERVICE}/memory.high"] = f"{900 * MIB}\n"
    assert available_mib(tmp_path, files) == 200
    files[f"{SERVICE}/memory.high"] = f"{500 * MIB}\n"
    assert available_mib(tmp_path, files) == 0


def test_the_limit_of_a_parent_counts_too(tmp_path: Path) -> None:
    files = {
        **V2,
        f"{SERVICE}/memory.max": "max\n",
        f"{SERVICE}/memory.current": f"{800 * MIB}\n",
        "sys/fs/cgroup/system.slice/memory.max": f"{2000 * MIB}\n",
        "sys/fs/cgroup/system.slice/memory.current": f"{1900 * MIB}\n",
    }
    assert available_mib(tmp_path, files) == 100


@pytest.mark.parametrize("own", ["0::/\n", "0::/../../machine/abc\n", "0::/gone (deleted)\n"])
def test_within_a_container_the_mount_is_ours(tmp_path: Path, own: str) -> None:
    files = {
        **V2,
        "proc/self/cgroup": own,
        "sys/fs/cgroup/memory.max": f"{512 * MIB}\n",
        "sys/fs/cgroup/memory.current": f"{500 * MIB}\n",
        "machine/abc/memory.max": "0\n",
        "machine/abc/memory.current": "0\n",
    }
    assert available_mib(tmp_path, files) == 12


@pytest.mark.parametrize("file", ["memory.max", "memory.current"])
def test_a_limit_that_cannot_be_read_is_none(tmp_path: Path, file: str) -> None:
    files = {**V2, f"{SERVICE}/memory.max": "1000\n", f"{SERVICE}/memory.current": "900\n"}
    assert available_mib(tmp_path, files | {f"{SERVICE}/{file}": UNREADABLE}) == 6000


def test_the_first_cgroups_have_limits_too(tmp_path: Path) -> None:
    group = "sys/fs/cgroup/memory/docker/abc"
    files = {
        "proc/meminfo": MEMINFO,
        "proc/self/cgroup": "9:name=systemd:/x\n4:cpu,memory:/docker/abc\n0::/\ngarbage\n",
        f"{group}/memory.limit_in_bytes": f"{700 * MIB}\n",
        f"{group}/memory.usage_in_bytes": f"{600 * MIB}\n",
        f"{group}/memory.stat": f"inactive_file 5\ntotal_inactive_file {50 * MIB}\n",
    }
    assert available_mib(tmp_path, files) == 150
    files[f"{group}/memory.limit_in_bytes"] = "9223372036854771712\n"
    assert available_mib(tmp_path, files) == 6000
    assert available_mib(tmp_path, files | {"proc/meminfo": "\n"}) is None


def test_waiting_is_the_worse_of_the_machine_and_of_ours(tmp_path: Path) -> None:
    root = plant(tmp_path, {**V2, "proc/pressure/memory": PRESSURE.format("1.50")})
    assert memory.read(root).stall_percent == 1.5
    plant(root, {f"{SERVICE}/memory.pressure": PRESSURE.format("12.25")})
    assert memory.read(root).stall_percent == 12.25
    plant(root, {"proc/pressure/memory": PRESSURE.format("40.00")})
    assert memory.read(root).stall_percent == 40.0


@pytest.mark.parametrize("text", ["", "full avg10=bad total=1", UNREADABLE])
def test_a_kernel_that_does_not_tell_of_waiting(tmp_path: Path, text: str | None) -> None:
    root = plant(tmp_path, {"proc/meminfo": MEMINFO, "proc/pressure/memory": text})
    assert memory.read(root).stall_percent is None
    assert memory.psi_is_on(root) is False


def test_whether_the_kernel_tells_of_waiting(tmp_path: Path) -> None:
    assert memory.psi_is_on(tmp_path) is None
    root = plant(tmp_path, {"proc/meminfo": MEMINFO, "proc/pressure/memory": PRESSURE.format("0.00")})
    assert memory.psi_is_on(root) is True


@pytest.mark.parametrize(
    ("controllers", "table", "expected"),
    [
        ("cpuset cpu io memory pids\n", None, True),
        ("cpuset cpu io pids\n", "memory\t0\t76\t0\n", False),
        ("cpuset cpu io pids\n", None, False),
        (None, "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpu\t2\t1\t1\nmemory\t4\t66\t1\n", True),
        (None, "cpu\t2\t1\t1\n", False),
        (None, None, None),
    ],
)
def test_whether_limits_are_obeyed(
    tmp_path: Path, controllers: str | None, table: str | None, expected: bool | None
) -> None:
    files = {"sys/fs/cgroup/cgroup.controllers": controllers, "proc/cgroups": table}
    root = plant(tmp_path, {name: text for name, text in files.items() if text is not None})
    assert memory.cgroup_memory_is_on(root) is expected
