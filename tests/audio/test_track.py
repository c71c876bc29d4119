import numpy as np
import pytest

from daemon.audio.track import Track, gain_of, limit, ramp, to_pcm
from tests.audio.sounds import loudest_frequency_hz, rms, tone


def test_the_volume_curve_is_cubic_with_unity_at_100() -> None:
    assert gain_of(100) == 1.0
    assert 20 * np.log10(gain_of(50)) == pytest.approx(-18.06, abs=0.01)
    assert gain_of(0) == 0.0


def test_pcm_comes_out_bit_for_bit_at_unity_and_below_the_knee() -> None:
    sent = tone(0.1, level=0.94)
    track = Track(24000, 24000, 100)
    track.add(sent.tobytes())
    assert to_pcm(track.take(len(track)), 1) == sent.tobytes()


def test_the_limiter_keeps_order_and_never_passes_full_scale() -> None:
    samples = np.linspace(-3, 3, 6001, dtype=np.float32)
    limited = limit(samples)
    assert np.max(np.abs(limited)) <= 1.0
    assert np.all(np.diff(limited) >= 0)
    assert np.array_equal(limited[np.abs(samples) <= 0.95], samples[np.abs(samples) <= 0.95])


def test_samples_over_full_scale_do_not_wrap_around() -> None:
    loud = np.array([5.0, -5.0], np.float32)
    assert np.frombuffer(to_pcm(loud, 1), "<i2").tolist() == [32767, -32768]


@pytest.mark.parametrize("output_rate_hz", [48000, 44100, 16000])
def test_resampling_in_pieces_keeps_pitch_level_and_length(output_rate_hz: int) -> None:
    sent = tone(1.0, frequency_hz=1000)
    track = Track(24000, output_rate_hz, 100)
    for start in range(0, len(sent), 777):
        track.add(sent[start : start + 777].tobytes())
    track.end()
    assert len(track) == pytest.approx(output_rate_hz, abs=2)
    heard = np.frombuffer(to_pcm(track.take(len(track)), 1), "<i2")[1000:-1000]
    assert loudest_frequency_hz(heard, output_rate_hz) == pytest.approx(1000, abs=1)
    assert rms(heard) == pytest.approx(rms(sent), rel=0.001)


def test_faded_samples_stay_where_they_are() -> None:
    track = Track(24000, 24000, 100)
    track.add(tone(0.1).tobytes())
    faded = track.faded(1000)
    assert abs(faded[-1]) < 1e-3
    assert len(track) == 2400
    assert np.argmax(np.abs(track.take(1000) - faded)) > 0


def test_a_ramp_rises_from_silence_to_full_level() -> None:
    rising = ramp(100)
    assert rising[0] < 0.001
    assert rising[-1] > 0.999
    assert np.all(np.diff(rising) > 0)
    assert len(ramp(0)) == 0
