"""What the device hears is what was sent: real player process, PortAudio and ALSA."""

import asyncio
import time
from collections.abc import Sequence

import numpy as np
import pytest

from daemon.audio import chime
from daemon.audio.playback import Playback
from daemon.audio.speaker import Speaker
from tests.audio.alsa import AlsaFileDevice, Recording
from tests.audio.sounds import RATE_HZ, Pcm16, longest_silence_s, loudest_frequency_hz, rms, tone


async def _perform(speaker: Speaker, pieces: Sequence[Pcm16], **play: int | float | str) -> Playback:
    async with await speaker.play(**{"sample_rate_hz": RATE_HZ, **play}) as playback:  # type: ignore[arg-type]
        for piece in pieces:
            await playback.write(piece.tobytes())
        assert await playback.finish()
    return playback


def _heard(
    card: AlsaFileDevice, *pieces: Pcm16, device: str = "auto", **play: int | float | str
) -> Recording:
    async def scenario() -> None:
        speaker = Speaker(device, env=card.env)
        await speaker.start()
        await _perform(speaker, pieces, **play)
        await speaker.stop()

    asyncio.run(scenario())
    (recording,) = card.recordings()
    return recording


def test_every_sample_is_heard_on_both_channels(card: AlsaFileDevice) -> None:
    sent = tone(0.5)
    heard = _heard(card, sent[:5000], sent[5000:])
    assert heard.sample_rate_hz == RATE_HZ
    assert heard.channels.shape[1] == 2
    assert np.array_equal(heard.channels[:, 0], heard.channels[:, 1])
    assert np.array_equal(heard.samples, sent)


def test_lead_in_and_tail_are_silence_in_the_same_stream(card: AlsaFileDevice) -> None:
    sent = tone(0.2)
    heard = _heard(card, sent, lead_in_s=0.3, tail_s=0.1)
    lead_in, tail = round(0.3 * RATE_HZ), round(0.1 * RATE_HZ)
    assert not heard.samples[:lead_in].any()
    assert not heard.samples[-tail:].any()
    # While the sound was still on its way, silence may have become longer, never shorter.
    assert np.array_equal(heard.sound(), sent)
    assert len(heard.samples) >= lead_in + len(sent) + tail


def test_the_lead_in_is_left_out_while_the_sink_is_awake(card: AlsaFileDevice) -> None:
    async def scenario() -> None:
        speaker = Speaker(env=card.env, lead_in_s=0.4)
        await speaker.start()
        await _perform(speaker, [tone(0.1)])
        await _perform(speaker, [tone(0.1)])
        await speaker.stop()

    asyncio.run(scenario())
    first, second = card.recordings()
    assert first.duration_s >= 0.5
    assert second.duration_s == pytest.approx(0.1)


def test_chime_and_speech_are_joined_without_a_gap(card: AlsaFileDevice) -> None:
    bell = np.frombuffer(chime.pcm("alert", RATE_HZ), "<i2")
    speech = tone(0.3)
    heard = _heard(card, speech, chime_name="alert")
    assert np.array_equal(heard.samples, np.concatenate([bell, speech]))


def test_a_sample_cut_in_two_between_pieces_is_whole_again(card: AlsaFileDevice) -> None:
    sent = tone(0.1)
    halves = np.frombuffer(sent.tobytes(), np.uint8)
    heard = _heard(card, halves[:1001].view(), halves[1001:].view())  # type: ignore[arg-type]
    assert np.array_equal(heard.samples, sent)


@pytest.mark.parametrize(("volume", "factor"), [(100, 1.0), (50, 0.125), (0, 0.0)])
def test_volume_scales_samples_along_the_cubic_curve(
    card: AlsaFileDevice, volume: int, factor: float
) -> None:
    sent = tone(0.1)
    heard = _heard(card, sent, volume=volume)
    assert rms(heard.samples) == pytest.approx(factor * rms(sent), abs=1e-4)


def test_a_refused_rate_is_resampled_to_the_device_and_keeps_level_and_pitch(card: AlsaFileDevice) -> None:
    sent = tone(0.5, frequency_hz=300, rate_hz=3000)  # ALSA's `plug` converts from 4000 Hz up only
    heard = _heard(card, sent, sample_rate_hz=3000)
    assert heard.sample_rate_hz == 44100
    assert heard.duration_s == pytest.approx(0.5, abs=0.001)
    middle = heard.samples[4410:-4410]
    assert loudest_frequency_hz(middle, 44100) == pytest.approx(300, abs=5)
    assert rms(middle) == pytest.approx(rms(sent), rel=0.02)


@pytest.mark.parametrize("device", ["recorder", "RECORD", "fixed 48k", "plug:SLAVE=recorder"])
def test_devices_go_by_name_part_of_a_name_and_alsa_name(card: AlsaFileDevice, device: str) -> None:
    heard = _heard(card, tone(0.2), device=device)
    assert heard.sample_rate_hz == (48000 if device == "fixed 48k" else RATE_HZ)
    assert heard.duration_s == pytest.approx(0.2, abs=0.01)


def test_finish_returns_when_the_last_sample_was_heard(card: AlsaFileDevice) -> None:
    async def scenario() -> tuple[float, float]:
        speaker = Speaker(env=card.env)
        await speaker.start()
        playback = await _perform(speaker, [tone(0.8)])
        now_s = time.monotonic()
        await speaker.stop()
        return now_s - (await playback.began() or 0.0), playback.position_s

    lasted_s, position_s = asyncio.run(scenario())
    # `began` is told once the first block is handed over, which takes next to no time.
    assert 0.79 <= lasted_s < 1.3
    assert position_s == pytest.approx(0.8)


def test_waiting_for_the_next_piece_is_silence_and_counted_and_loses_nothing(card: AlsaFileDevice) -> None:
    async def scenario() -> int:
        speaker = Speaker(env=card.env)
        await speaker.start()
        async with await speaker.play(sample_rate_hz=RATE_HZ) as playback:
            await playback.write(tone(0.1).tobytes())
            await asyncio.sleep(0.5)
            await playback.write(tone(0.1).tobytes())
            await playback.finish()
        await speaker.stop()
        return playback.underruns

    assert asyncio.run(scenario()) == 1
    (heard,) = card.recordings()
    assert 0.2 < longest_silence_s(heard.samples, RATE_HZ) < 0.5
    loud_s = np.count_nonzero(np.abs(heard.samples) > 0) / RATE_HZ
    assert loud_s == pytest.approx(0.2, abs=0.01)


def test_devices_lists_all_outputs(card: AlsaFileDevice) -> None:
    async def scenario() -> set[str]:
        return {device.name for device in await Speaker("none", env=card.env).devices()}

    assert asyncio.run(scenario()) == {"default", "recorder", "fixed 48k"}
