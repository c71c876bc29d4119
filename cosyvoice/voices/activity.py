"""Where in a recording somebody speaks: levels by frame, the noise between the words, phrases and pauses."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cosyvoice.voices.clip import Samples

Levels = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]

FRAME_S, HOP_S = 0.02, 0.01
_SILENCE_DB = -100.0  # what digital silence is taken for: below the steps of 16-bit samples
_INAUDIBLE_DB = -90.0
_LOUDEST_FRAMES = 200  # 2 s of the loudest frames show the speech in a recording that is mostly silence
_NOISE_PERCENTILE = 5.0  # even fluent speech has as many frames between words and in stop consonants
_ABOVE_NOISE_DB = 8.0
_BELOW_SPEECH_DB = 32.0  # weak consonants lie so far under vowels
_LEAST_BELOW_SPEECH_DB = 6.0
_MIN_PAUSE_S = 0.2  # shorter gaps are stop consonants
_MIN_PHRASE_S = 0.12  # shorter sounds are clicks; the shortest words last about 0.15 s


class Phrase(NamedTuple):
    """A stretch of speech without a pause in it."""

    start_s: float
    end_s: float

    @property
    def duration_s(self) -> float:
        return self.end_s - self.start_s


@dataclass(frozen=True)
class Activity:
    """Speech and silence of one recording, frame by frame (every `HOP_S`)."""

    levels_db: Levels  # (F,) dB to full scale
    active: Flags  # (F,)
    noise_db: float
    speech_db: float

    @property
    def snr_db(self) -> float:
        return self.speech_db - self.noise_db


def measure(samples: Samples, sample_rate_hz: int) -> Activity:
    """Finds the speech in at least one frame of `samples` (N,)."""
    levels = frame_levels(samples, sample_rate_hz)
    noise = float(np.percentile(levels, _NOISE_PERCENTILE))
    speech = float(np.median(np.sort(levels)[-_LOUDEST_FRAMES:]))
    threshold = max(noise + _ABOVE_NOISE_DB, speech - _BELOW_SPEECH_DB)
    active = levels > min(threshold, speech - _LEAST_BELOW_SPEECH_DB)
    return Activity(levels, active & (levels > _INAUDIBLE_DB), noise, speech)


def frame_levels(samples: Samples, sample_rate_hz: int) -> Levels:
    """Levels (F,) of overlapping frames in dB to full scale; a rest shorter than a frame is left out."""
    frame, hop = round(FRAME_S * sample_rate_hz), round(HOP_S * sample_rate_hz)
    power = np.concatenate([[0.0], np.cumsum(np.square(samples, dtype=np.float64))])
    starts = np.arange(0, max(len(samples) - frame, 0) + 1, hop)
    ends = np.minimum(starts + frame, len(samples))
    mean_power = np.maximum(power[ends] - power[starts], 0) / frame
    levels: Levels = (10 * np.log10(mean_power + 10 ** (_SILENCE_DB / 10))).astype(np.float32)
    return levels


def phrases(activity: Activity) -> list[Phrase]:
    """The stretches of speech, in order, with a pause between each two."""
    edges = np.flatnonzero(np.diff(activity.active, prepend=False, append=False)) * HOP_S
    found: list[Phrase] = []
    for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if found and start - found[-1].end_s < _MIN_PAUSE_S:
            found[-1] = Phrase(found[-1].start_s, end)
        else:
            found.append(Phrase(start, end))
    return [phrase for phrase in found if phrase.duration_s >= _MIN_PHRASE_S]
