"""What the built-in engine makes of a style preset. Pure data: the daemon process reads it too."""

import msgspec


class Style(msgspec.Struct, frozen=True, kw_only=True):
    """Changes against the neutral voice."""

    speed: float = 1.0  # factor on the pace
    pitch: float = 1.0  # factor on the mean F0
    pitch_range: float = 1.0  # factor on F0's distance from its mean
    level_db: float = 0.0


NEUTRAL = Style()

# Set by ear within what the listener still understands; the numbers that come out are in the tests.
PRESETS: dict[str, Style] = {
    "neutral": NEUTRAL,
    "slow": Style(speed=0.85),
    "fast": Style(speed=1.25),
    "loud": Style(level_db=6.0),
    "soft": Style(speed=0.95, pitch=0.97, pitch_range=0.85, level_db=-9.0),
    "excited": Style(speed=1.12, pitch=1.12, pitch_range=1.35, level_db=2.0),
    "happy": Style(speed=1.06, pitch=1.07, pitch_range=1.2, level_db=1.0),
    "sad": Style(speed=0.88, pitch=0.93, pitch_range=0.65, level_db=-3.0),
    "angry": Style(speed=1.1, pitch=0.95, pitch_range=1.3, level_db=4.0),
}


def choose(name: str, language: str) -> tuple[Style, tuple[str, ...]]:
    """The style's changes, and ("style",) when this engine does not have it."""
    if name in PRESETS:
        return PRESETS[name], ()
    if name == "mandarin" and language == "zh":
        return NEUTRAL, ()
    return NEUTRAL, ("style",)
