"""What can be wrong with a recording, and that good ones are left alone."""

import numpy as np
import pytest

from cosyvoice.voices import activity, checks, clip, cut
from cosyvoice.voices.findings import Finding
from tests.voices.signals import RATE_HZ, joined, noise, silence, speech

GOOD = joined(silence(0.8), speech(2.5), silence(0.4), speech(2.0), silence(0.6)) + noise(6.3, -65)


def found(samples: clip.Samples, rate_hz: int = RATE_HZ) -> dict[str, Finding]:
    """All findings on a recording, by check."""
    recording = clip.Clip(samples, rate_hz, clip.flat_tops(samples, rate_hz))
    heard = activity.measure(samples, rate_hz)
    kept = cut.Cut(tuple(activity.phrases(heard)))
    return {finding.check: finding for finding in checks.signal(recording, heard, kept)}


def levels(samples: clip.Samples, rate_hz: int = RATE_HZ) -> dict[str, str]:
    return {check: finding.level for check, finding in found(samples, rate_hz).items()}


def test_a_good_recording_passes_every_check() -> None:
    assert set(levels(GOOD).values()) == {"ok"}


def test_every_note_and_problem_says_what_to_do() -> None:
    bad = joined(speech(1.0), silence(1.2), speech(0.4)) * np.float32(0.02) + noise(2.6, -65)
    findings = [finding for finding in found(bad).values() if finding.level != "ok"]
    assert {finding.check for finding in findings} == {"length", "level", "noise", "pauses"}
    assert all(finding.do for finding in findings)


@pytest.mark.parametrize(
    ("duration_s", "level"), [(2.9, "problem"), (3.0, "ok"), (10.0, "ok"), (10.1, "problem")]
)
def test_three_to_ten_seconds_are_right(duration_s: float, level: str) -> None:
    assert checks.length(duration_s).level == level


def test_what_is_cut_off_is_told() -> None:
    finding = checks.length(5.0, 4.2)
    assert finding.level == "note"
    assert "4.2 s after that are cut off" in finding.what


def test_clipping_is_a_problem() -> None:
    assert levels(np.clip(GOOD * 4, -1, 1))["clipping"] == "problem"


@pytest.mark.parametrize(("noise_db", "level"), [(-60, "ok"), (-34, "note"), (-22, "problem")])
def test_noise_between_the_words_is_heard(noise_db: float, level: str) -> None:
    assert levels(GOOD + noise(6.3, noise_db, seed=1))["noise"] == level


@pytest.mark.parametrize(("gain", "level"), [(1.0, "ok"), (0.05, "note"), (0.02, "problem")])
def test_soft_speech_is_heard(gain: float, level: str) -> None:
    assert levels(GOOD * np.float32(gain))["level"] == level


def test_long_pauses_are_a_problem() -> None:
    halting = joined(speech(1.0), silence(2.5), speech(0.8), silence(2.0), speech(1.0))
    assert levels(halting + noise(7.3, -65))["pauses"] == "problem"


def test_a_narrow_band_is_only_noted() -> None:
    assert levels(GOOD, 16000)["band"] == "note"
