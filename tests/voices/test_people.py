"""The speaker encoder and the checks, on real people with CAM++'s real weights."""

import itertools

import numpy as np
import pytest

from cosyvoice.voices import activity, checks, clip, cut, features, speaker
from cosyvoice.voices.clip import Samples
from cosyvoice.voices.speaker import SpeakerEncoder
from tests.voices import campplus, people

pytestmark = pytest.mark.skipif(people.missing() is not None, reason=people.missing() or "")

CLIPS = 3

Recordings = dict[str, list[Samples]]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> SpeakerEncoder:
    weights = people.campplus_weights()
    assert weights is not None
    folder = tmp_path_factory.mktemp("campplus")
    campplus.convert(weights, folder / speaker.FILE)
    return speaker.load(folder)


@pytest.fixture(scope="module")
def recordings() -> Recordings:
    return {name: people.clips(name, CLIPS) for name in people.SPEAKERS}


@pytest.fixture(scope="module")
def voices(encoder: SpeakerEncoder, recordings: Recordings) -> list[list[speaker.Floats]]:
    """Each person's embeddings."""
    return [[encoder.embed(features.fbank80(clip).numpy()) for clip in own] for own in recordings.values()]


def one_speaker(encoder: SpeakerEncoder, samples: Samples) -> str:
    windows = speaker.windows(features.fbank80(samples).numpy())
    return speaker.one_speaker([encoder.embed(window) for window in windows]).level


def test_a_person_sounds_like_himself(voices: list[list[speaker.Floats]]) -> None:
    same = [speaker.least_alike(pair) for own in voices for pair in itertools.combinations(own, 2)]
    assert np.mean(same) > 0.8
    assert min(same) > 0.65


def test_people_sound_different(voices: list[list[speaker.Floats]]) -> None:
    pairs = itertools.combinations(voices, 2)
    different = [speaker.least_alike(pair) for one, other in pairs for pair in zip(one, other, strict=True)]
    assert max(different) < 0.5


def test_one_person_is_heard_as_one(encoder: SpeakerEncoder, recordings: Recordings) -> None:
    assert {one_speaker(encoder, samples) for own in recordings.values() for samples in own} == {"ok"}


def test_two_people_are_noticed(encoder: SpeakerEncoder, recordings: Recordings) -> None:
    middle = slice(people.RATE_HZ // 2, 4 * people.RATE_HZ)
    for one, other in itertools.combinations(recordings.values(), 2):
        for first, second in zip(one, other, strict=True):
            assert one_speaker(encoder, np.concatenate([first[middle], second[middle]])) == "problem"


def test_studio_recordings_pass_the_checks(recordings: Recordings) -> None:
    for samples in itertools.chain.from_iterable(recordings.values()):
        recording = clip.Clip(samples, people.RATE_HZ, clip.flat_tops(samples, people.RATE_HZ))
        heard = activity.measure(samples, people.RATE_HZ)
        kept = cut.Cut(tuple(activity.phrases(heard)))
        findings = {finding.check: finding.level for finding in checks.signal(recording, heard, kept)}
        assert findings.pop("band") == "note"
        assert set(findings.values()) == {"ok"}
