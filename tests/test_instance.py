"""One daemon for one state folder, also after a crash."""

import subprocess
import sys
from pathlib import Path

import pytest

from daemon.instance import AlreadyRunningError, InstanceLock

HOLD = "import sys; from pathlib import Path; from daemon.instance import InstanceLock\n"
HOLD += "lock = InstanceLock(Path(sys.argv[1])); lock.acquire(); print('held', flush=True); input()"


def test_a_second_one_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(AlreadyRunningError, match=f"process {holder.pid}"):
            InstanceLock(tmp_path).acquire()
        holder.kill()
        holder.wait()
        lock = InstanceLock(tmp_path)
        lock.acquire()
        lock.release()


def test_release_lets_the_next_in(tmp_path: Path) -> None:
    first, second = InstanceLock(tmp_path), InstanceLock(tmp_path)
    first.acquire()
    first.release()
    second.acquire()
    second.release()
