"""Quiet hours: do-not-disturb by the clock."""

import asyncio
import datetime
import logging
from collections.abc import Callable

import msgspec

from daemon.config import QuietHours, minutes
from daemon.storage.settings import SettingsStore

log = logging.getLogger(__name__)

LOOK_INTERVAL_S = 15.0


def is_quiet(hours: QuietHours | None, minute_of_day: int) -> bool:
    """Whether a local time of day lies within the quiet hours, which may span midnight."""
    if hours is None:
        return False
    start, end = minutes(hours.start), minutes(hours.end)
    if start <= end:
        return start <= minute_of_day < end
    return minute_of_day >= start or minute_of_day < end


def next_do_not_disturb(
    quiet_now: bool, quiet_before: bool | None, do_not_disturb: bool, set_by_clock: bool
) -> bool:
    """Do-not-disturb after a look at the clock: it switches at the edges and leaves the user's word between.

    Args:
        quiet_before: what the look before this one saw; None at the first.
        set_by_clock: the clock switched it on last.
    """
    if quiet_before is None:  # just started: an edge may have passed meanwhile
        return quiet_now or (do_not_disturb and not set_by_clock)
    return quiet_now if quiet_now != quiet_before else do_not_disturb


def local_minute_of_day() -> int:
    now = datetime.datetime.now().astimezone()
    return now.hour * 60 + now.minute


class QuietClock:
    """Switches do-not-disturb at the edges of the quiet hours."""

    def __init__(
        self,
        hours: QuietHours | None,
        settings: SettingsStore,
        switched: Callable[[], None],
        minute_of_day: Callable[[], int] = local_minute_of_day,
    ) -> None:
        self._hours = hours
        self._settings = settings
        self._switched = switched
        self._minute_of_day = minute_of_day
        self._before: bool | None = None

    async def run(self) -> None:
        """Looks at the clock until cancelled."""
        while True:
            self.look()
            await asyncio.sleep(LOOK_INTERVAL_S)

    def look(self) -> None:
        settings = self._settings.current
        now = is_quiet(self._hours, self._minute_of_day())
        wanted = next_do_not_disturb(now, self._before, settings.do_not_disturb, settings.quiet_by_clock)
        self._before = now
        if wanted != settings.do_not_disturb:
            log.info("quiet hours: do not disturb is %s", "on" if wanted else "off")
            self._settings.save(
                msgspec.structs.replace(settings, do_not_disturb=wanted, quiet_by_clock=wanted)
            )
            self._switched()
