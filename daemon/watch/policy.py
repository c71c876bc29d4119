"""What heat, memory and power allow: pure functions of what the sensors say and of time.

Each cause has a level of its own, with hysteresis and dwell times; the hardest of them is the device's.
"""

from enum import IntEnum
from typing import NamedTuple

from daemon.config import Watch
from daemon.watch.sensors import Reading

MIB = 2**20
UNDERVOLTAGE = "the power supply is too weak (undervoltage)"


class Level(IntEnum):
    """How much the device may do."""

    NORMAL = 0
    WARM = 1  # the heavy engine works with fewer threads and rests between the parts of a text
    HOT = 2  # the heavy engine is unloaded; the built-in one speaks
    CRITICAL = 3  # only important announcements, and those of the phrase cache; the others wait

    @property
    def label(self) -> str:
        """As the state message names it."""
        return self.name.lower()


class Held(NamedTuple):
    """The level that one cause holds, and since when it has called for a harder or for an easier one."""

    level: Level = Level.NORMAL
    harder_since_s: float | None = None
    easier_since_s: float | None = None


class Throttle(NamedTuple):
    """The levels of all causes at one moment."""

    heat: Held = Held()
    memory: Held = Held()
    stall: Held = Held()
    power: Held = Held()
    reason: str | None = None  # of the level, as it was when the level was taken

    @property
    def level(self) -> Level:
        return max(held.level for held in self.causes.values())

    @property
    def causes(self) -> dict[str, Held]:
        return {"heat": self.heat, "memory": self.memory, "stall": self.stall, "power": self.power}


def step(before: Throttle, reading: Reading, limits: Watch, now_s: float) -> Throttle:
    """The throttle after one more look at the sensors; what is unknown calls for nothing.

    Args:
        now_s: on a clock that never jumps.
    """
    called = {
        "heat": _heat(reading.temperature_c, before.heat.level, limits),
        "memory": _memory(reading.memory_available_bytes, before.memory.level, limits),
        "stall": _stall(reading.memory_stall_percent, before.stall.level, limits),
        "power": Level.WARM if reading.undervoltage or reading.slowed else Level.NORMAL,
    }

    def held(cause: str) -> Held:
        return _hold(before.causes[cause], called[cause], now_s, limits.rise_s, limits.dwell_s)

    after = Throttle(held("heat"), held("memory"), held("stall"), held("power"))
    if after.level == before.level and _worst(after) == _worst(before):
        return after._replace(reason=before.reason)
    return after._replace(reason=_reason(after, reading, limits))


def _hold(held: Held, called: Level, now_s: float, rise_s: float, dwell_s: float) -> Held:
    """A level is left once another one was called for without a break; critical is taken at once."""
    if called == held.level:
        return Held(held.level)
    if called > held.level:
        since_s = now_s if held.harder_since_s is None else held.harder_since_s
        if called == Level.CRITICAL or now_s - since_s >= rise_s:
            return Held(called)
        return Held(held.level, harder_since_s=since_s)
    since_s = now_s if held.easier_since_s is None else held.easier_since_s
    return Held(called) if now_s - since_s >= dwell_s else Held(held.level, easier_since_s=since_s)


def _ladder(value: float, thresholds: tuple[float, float, float], back: float, level: Level) -> Level:
    """The level that a value calls for; one that is held is left only `back` below its threshold."""
    entered = sum(value >= threshold for threshold in thresholds)
    kept = sum(value > threshold - back for threshold in thresholds)
    return Level(max(entered, min(kept, level)))


def _heat(temperature_c: float | None, level: Level, limits: Watch) -> Level:
    if temperature_c is None:
        return Level.NORMAL
    heat = limits.heat
    return _ladder(temperature_c, (heat.warm_c, heat.hot_c, heat.critical_c), heat.back_c, level)


def _memory(available_bytes: int | None, level: Level, limits: Watch) -> Level:
    if available_bytes is None:
        return Level.NORMAL
    memory = limits.memory
    thresholds = (-memory.warm_mib, -memory.hot_mib, -memory.critical_mib)  # less is harder
    return _ladder(-available_bytes / MIB, thresholds, memory.back_mib, level)


def _stall(stall_percent: float | None, level: Level, limits: Watch) -> Level:
    limit = limits.memory.stall_percent
    still = level == Level.HOT and stall_percent is not None and stall_percent > limit / 2
    return Level.HOT if still or (stall_percent or 0.0) >= limit else Level.NORMAL


def _worst(throttle: Throttle) -> str | None:
    """The cause of the level; None while it is normal."""
    cause, held = max(throttle.causes.items(), key=lambda item: item[1].level)
    return cause if held.level > Level.NORMAL else None


def _reason(throttle: Throttle, reading: Reading, limits: Watch) -> str | None:
    match _worst(throttle):
        case None:
            return None
        case "heat":
            return _known("the processor is at {:.1f} °C", reading.temperature_c)
        case "memory":
            return _known("{:.0f} MiB of memory are free", reading.memory_available_bytes, MIB)
        case "stall":
            return _known("programs wait for memory {:.0f} % of the time", reading.memory_stall_percent)
        case _ if reading.undervoltage:
            return UNDERVOLTAGE
    return "the firmware has slowed the processor"


def _known(sentence: str, value: float | None, unit: float = 1.0) -> str:
    return "the sensor has gone" if value is None else sentence.format(value / unit)
