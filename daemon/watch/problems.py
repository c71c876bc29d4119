"""What is wrong with the device now: a sentence each, for the state message and for `systemctl status`."""

from daemon.audio.speaker import NONE, Speaker
from daemon.jobs.ledger import Ledger
from daemon.storage.housekeeping import Housekeeping
from daemon.watch.guard import Guard
from daemon.watch.health import Health
from daemon.watch.policy import UNDERVOLTAGE


def problems(
    guard: Guard, speaker: Speaker, housekeeping: Housekeeping, ledger: Ledger, health: Health
) -> tuple[str, ...]:
    """All that somebody should look after; a speaker that is turned off is no problem."""
    power = UNDERVOLTAGE if guard.reading.undervoltage else None
    sound = speaker.problem if speaker.device != NONE else None
    found = (guard.problem, power, sound, housekeeping.problem, ledger.problem, *health.problems)
    return tuple(problem for problem in found if problem)
