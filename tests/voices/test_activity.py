"""Where somebody speaks."""

import numpy as np
import pytest

from cosyvoice.voices import activity
from tests.voices.signals import RATE_HZ, joined, noise, silence, speech

WITHIN_S = 0.06  # an edge is heard a frame or two late where a syllable swells


def test_phrases_lie_where_the_speech_is() -> None:
    sound = joined(silence(1.0), speech(2.0), silence(0.5), speech(1.5), silence(0.8))
    first, second = activity.phrases(activity.measure(sound + noise(5.8, -70), RATE_HZ))
    assert (first.start_s, first.end_s) == pytest.approx((1.0, 3.0), abs=WITHIN_S)
    assert (second.start_s, second.end_s) == pytest.approx((3.5, 5.0), abs=WITHIN_S)


def test_a_gap_as_in_a_stop_consonant_is_no_pause() -> None:
    sound = joined(silence(0.5), speech(1.5), silence(0.12), speech(1.5), silence(0.5))
    assert len(activity.phrases(activity.measure(sound, RATE_HZ))) == 1


def test_a_click_is_no_phrase() -> None:
    sound = joined(silence(1.0), speech(0.03), silence(1.0), speech(3.0))
    (phrase,) = activity.phrases(activity.measure(sound, RATE_HZ))
    assert phrase.start_s == pytest.approx(2.03, abs=WITHIN_S)


@pytest.mark.parametrize("noise_db", [-70.0, -50.0, -40.0])
def test_noise_and_speech_are_told_apart(noise_db: float) -> None:
    sound = joined(silence(1.0), speech(3.0), silence(1.0)) + noise(5.0, noise_db)
    found = activity.measure(sound, RATE_HZ)
    assert found.noise_db == pytest.approx(noise_db, abs=2.0)
    (phrase,) = activity.phrases(found)
    assert phrase.duration_s == pytest.approx(3.0, abs=2 * WITHIN_S)


def test_a_minute_of_silence_does_not_hide_the_speech() -> None:
    sound = joined(silence(30.0), speech(3.0), silence(27.0)) + noise(60.0, -65)
    (phrase,) = activity.phrases(activity.measure(sound, RATE_HZ))
    assert phrase.start_s == pytest.approx(30.0, abs=WITHIN_S)


def test_in_silence_nobody_speaks() -> None:
    assert activity.phrases(activity.measure(silence(3.0), RATE_HZ)) == []


def test_levels_are_those_of_the_samples() -> None:
    tone = np.full(RATE_HZ, 0.1, dtype=np.float32)
    assert activity.frame_levels(tone, RATE_HZ) == pytest.approx(-20.0, abs=0.01)


def test_a_single_sample_can_be_measured() -> None:
    assert activity.phrases(activity.measure(np.ones(1, dtype=np.float32), RATE_HZ)) == []
