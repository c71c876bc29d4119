import numpy as np
import pytest

from daemon.audio import chime
from tests.audio.sounds import Pcm16, loudest_frequency_hz, rms


def _samples(name: str, rate_hz: int = 24000) -> Pcm16:
    return np.frombuffer(chime.pcm(name, rate_hz), "<i2")


def test_there_are_three_chimes() -> None:
    assert chime.names() == ("gong", "bell", "alert")


def test_an_unknown_chime_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        chime.pcm("trumpet", 24000)


@pytest.mark.parametrize("name", chime.names())
@pytest.mark.parametrize("rate_hz", [16000, 24000, 48000])
def test_a_chime_is_about_as_loud_as_speech_and_never_clips(name: str, rate_hz: int) -> None:
    samples = _samples(name, rate_hz)
    assert 20 * np.log10(rms(samples[:rate_hz])) == pytest.approx(-18, abs=1.5)
    assert np.max(np.abs(samples.astype(np.int32))) <= 0.71 * 32768


@pytest.mark.parametrize("name", chime.names())
def test_a_chime_starts_and_ends_in_silence(name: str) -> None:
    samples = _samples(name)
    assert samples[0] == 0
    assert np.max(np.abs(samples[:5])) < 1500  # against a peak of up to 23000
    assert np.max(np.abs(samples[-24:])) < 50


@pytest.mark.parametrize("rate_hz", [16000, 24000, 44100])
def test_the_bell_falls_from_e_to_c_at_every_rate(rate_hz: int) -> None:
    samples = _samples("bell", rate_hz)
    ding, dong = samples[: rate_hz // 2], samples[rate_hz:]
    assert loudest_frequency_hz(ding, rate_hz) == pytest.approx(659, abs=4)
    assert loudest_frequency_hz(dong, rate_hz) == pytest.approx(523, abs=4)


def test_the_same_chime_is_made_once() -> None:
    assert chime.pcm("gong", 24000) is chime.pcm("gong", 24000)
