"""Chimes, synthesised: struck bars whose partials ring and die away."""

import functools
import itertools
import math
import operator
import sys
from array import array

import msgspec

# Modes of a free bar of even thickness over its lowest one (Fletcher and Rossing, The Physics of Musical
# Instruments, chapter 2), each weaker and shorter than the one below.
BAR = ((1.0, 1.0, 1.0), (2.756, 0.3, 0.4), (5.404, 0.1, 0.15))
# A vibraphone's bar is cut so that its second mode lies two octaves up (same book, chapter 19).
TUNED_BAR = ((1.0, 1.0, 1.0), (4.0, 0.22, 0.3), (9.9, 0.05, 0.1))
LOUDEST_SECOND_RMS = 10 ** (-18 / 20)  # about the level of speech
PEAK = 10 ** (-3 / 20)
ATTACK_S = 0.004  # a felt mallet; an immediate start would click
RELEASE_S = 0.02
INAUDIBLE = 0.001  # -60 dB


class Strike(msgspec.Struct, frozen=True):
    """One bar, struck once."""

    at_s: float
    frequency_hz: float
    ring_s: float  # until 60 dB below the start
    bar: tuple[tuple[float, float, float], ...]  # per mode: frequency, level and ring over the lowest one's


CHIMES = {
    "gong": (Strike(0.0, 392.0, 1.8, BAR),),  # G4: lower, and small loudspeakers are silent
    "bell": (Strike(0.0, 659.26, 1.4, TUNED_BAR), Strike(0.5, 523.25, 1.6, TUNED_BAR)),  # E5, C5: ding-dong
    "alert": tuple(Strike(0.22 * n, 880.0 if n % 2 == 0 else 1108.7, 0.5, TUNED_BAR) for n in range(4)),
}


def names() -> tuple[str, ...]:
    return tuple(CHIMES)


@functools.lru_cache(maxsize=16)
def pcm(name: str, sample_rate_hz: int) -> bytes:
    """The chime as 16-bit little-endian mono PCM; it starts and ends in silence. Raises `KeyError`."""
    strikes = CHIMES[name]
    length = round(max(strike.at_s + strike.ring_s for strike in strikes) * sample_rate_hz)
    sound = [0.0] * length
    for strike in strikes:
        start = round(strike.at_s * sample_rate_hz)
        for samples in _modes(strike, sample_rate_hz):
            stop = min(start + len(samples), length)
            sound[start:stop] = map(operator.add, sound[start:stop], samples)
    _release(sound, round(RELEASE_S * sample_rate_hz))
    second = sound[:sample_rate_hz]
    rms = math.sqrt(sum(map(operator.mul, second, second)) / len(second))
    scale = 32767 * min(LOUDEST_SECOND_RMS / rms, PEAK / max(max(sound), -min(sound)))
    return _little_endian(array("h", [round(scale * sample) for sample in sound]))


def _modes(strike: Strike, sample_rate_hz: int) -> list[list[float]]:
    """Each mode as a complex number that turns and shrinks by one factor per sample: no sine in the loop."""
    modes = []
    for frequency_ratio, level, ring_ratio in strike.bar:
        radians = 2 * math.pi * strike.frequency_hz * frequency_ratio / sample_rate_hz
        if radians > 0.9 * math.pi:  # it would fold back below half the sample rate
            continue
        count = round(strike.ring_s * ring_ratio * sample_rate_hz)
        shrink = INAUDIBLE ** (1 / count)
        turn = shrink * complex(math.cos(radians), math.sin(radians))
        spiral = itertools.accumulate(itertools.repeat(turn, count - 1), operator.mul, initial=complex(level))
        samples = [point.imag for point in spiral]
        attack = round(ATTACK_S * sample_rate_hz)
        samples[:attack] = [n / attack * sample for n, sample in enumerate(samples[:attack])]
        modes.append(samples)
    return modes


def _release(sound: list[float], count: int) -> None:
    for n in range(count):
        sound[-1 - n] *= n / count


def _little_endian(samples: "array[int]") -> bytes:
    if sys.byteorder == "big":
        samples.byteswap()
    return samples.tobytes()
