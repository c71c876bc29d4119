"""When speech that is made slower than it plays may begin, so that it does not stop in the middle."""

from dataclasses import dataclass

UNKNOWN_RTF = float("inf")
MARGIN = 1.1  # the machine may turn out slower by this much

# Seconds of speech: a Mandarin syllable, a Latin letter, at an ordinary pace.
HAN_S = 0.24
LETTER_S = 0.07


@dataclass(frozen=True)
class Pace:
    """How fast this machine makes speech, and how much there is to make."""

    rtf: float  # seconds of work for a second of speech; `UNKNOWN_RTF`: what is made is heard at its end
    expected_s: float  # of speech, in all


def may_begin(ready_s: float, hop_s: float, pace: Pace) -> bool:
    """Whether what is ready plays for as long as the rest takes, which comes in hops of `hop_s`.

    The k-th hop must be there before all earlier sound has played, for the first of them as for the last:
    k * hop * rtf <= ready + (k - 1) * hop.
    """
    if pace.rtf == UNKNOWN_RTF:
        return False
    rest_s = max(0.0, pace.expected_s - ready_s)
    if rest_s == 0:
        return True
    rtf = MARGIN * pace.rtf
    return ready_s >= max(hop_s * rtf, rest_s * (rtf - 1) + hop_s)


def expected_s(text: str, speed: float) -> float:
    """About how long `text`, with its numbers read out, takes to say."""
    han = sum("\u3040" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7af" for character in text)
    letters = sum(character.isalpha() for character in text) - han
    return (han * HAN_S + max(0, letters) * LETTER_S) / speed
