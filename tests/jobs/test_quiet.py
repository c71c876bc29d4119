"""Quiet hours switch do-not-disturb at their edges."""

from pathlib import Path

import msgspec
import pytest

from daemon.config import QuietHours
from daemon.jobs.quiet import QuietClock, is_quiet
from daemon.storage.settings import SettingsStore

NIGHT = QuietHours(start="22:00", end="07:00")
NOON = QuietHours(start="12:00", end="14:30")


@pytest.mark.parametrize(
    ("hours", "time", "quiet"),
    [
        (NIGHT, 22 * 60, True),
        (NIGHT, 23 * 60 + 59, True),
        (NIGHT, 0, True),
        (NIGHT, 7 * 60 - 1, True),
        (NIGHT, 7 * 60, False),
        (NIGHT, 12 * 60, False),
        (NOON, 12 * 60, True),
        (NOON, 14 * 60 + 30, False),
        (None, 0, False),
    ],
)
def test_hours(hours: QuietHours | None, time: int, quiet: bool) -> None:
    assert is_quiet(hours, time) is quiet


class Clock:
    def __init__(self, folder: Path) -> None:
        self.minute = 0
        self.switches = 0
        self.settings = SettingsStore(folder / "settings.json")
        self.settings.load()
        self.watch = QuietClock(NIGHT, self.settings, self.count, lambda: self.minute)

    def count(self) -> None:
        self.switches += 1

    def at(self, hour: int) -> bool:
        self.minute = hour * 60
        self.watch.look()
        return self.settings.current.do_not_disturb

    def user_sets(self, value: bool) -> None:
        changed = msgspec.structs.replace(self.settings.current, do_not_disturb=value, quiet_by_clock=False)
        self.settings.save(changed)


def test_it_switches_at_the_edges_only(tmp_path: Path) -> None:
    clock = Clock(tmp_path)
    assert [clock.at(hour) for hour in (21, 22, 23, 6, 7, 8)] == [False, True, True, True, False, False]
    assert clock.switches == 2


def test_the_users_word_counts_between_the_edges(tmp_path: Path) -> None:
    clock = Clock(tmp_path)
    clock.at(22)
    clock.user_sets(False)
    assert clock.at(23) is False
    clock.user_sets(True)
    assert clock.at(7) is False


def test_a_daemon_that_was_off_at_the_end_of_the_night_is_not_left_silent(tmp_path: Path) -> None:
    assert Clock(tmp_path).at(23) is True
    assert Clock(tmp_path).at(9) is False


def test_a_users_silence_survives_a_restart(tmp_path: Path) -> None:
    clock = Clock(tmp_path)
    clock.user_sets(True)
    assert Clock(tmp_path).at(9) is True
