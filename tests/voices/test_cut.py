"""Which part of a recording becomes the prompt."""

import numpy as np
import pytest

from cosyvoice.errors import VoiceError
from cosyvoice.voices import cut
from cosyvoice.voices.activity import Phrase
from cosyvoice.voices.clip import Clip
from tests.voices.signals import RATE_HZ, joined, silence, speech

SHORT = (Phrase(1.0, 3.0), Phrase(3.4, 6.0))
LONG = (Phrase(0.5, 3.0), Phrase(3.3, 5.0), Phrase(5.9, 9.8), Phrase(10.1, 16.0))


def han(count: int) -> str:
    return "好" * count


def test_a_short_recording_is_kept_whole() -> None:
    kept = cut.choose(SHORT, han(20), "zh", None)
    assert (kept.start_s, kept.end_s) == (1.0, 6.0)
    assert kept.speech_s == pytest.approx(4.6)


def test_a_long_recording_is_cut_at_its_longest_pause_when_the_text_is_for_a_part() -> None:
    kept = cut.choose(LONG, han(18), "zh", None)  # 4.2 s of speech before the pause, 14 s in all
    assert kept.end_s == 5.0
    assert kept.left_out_s == pytest.approx(10.1)


def test_a_text_for_all_of_a_long_recording_asks_where_to_cut() -> None:
    with pytest.raises(VoiceError, match=r"15\.5 s of speech are too long.*--until 5\.0.*only what is said"):
        cut.choose(LONG, han(60), "zh", None)


@pytest.mark.parametrize(("until_s", "end_s"), [(9.8, 9.8), (9.5, 9.8), (3.2, 3.0)])
def test_the_person_can_say_where_to_cut(until_s: float, end_s: float) -> None:
    assert cut.choose(LONG, han(40), "zh", until_s).end_s == end_s


def test_a_cut_within_a_word_is_refused_with_the_pauses() -> None:
    with pytest.raises(VoiceError, match=r"no pause at 7\.5 s; pauses begin at 3\.0, 5\.0, 9\.8, 16\.0 s"):
        cut.choose(LONG, han(40), "zh", 7.5)


def test_a_cut_that_keeps_too_much_is_refused() -> None:
    with pytest.raises(VoiceError, match="10 are used"):
        cut.choose(LONG, han(40), "zh", 16.0)


def test_a_long_recording_without_a_pause_cannot_be_cut() -> None:
    with pytest.raises(VoiceError, match="no pause to cut at"):
        cut.choose((Phrase(0.0, 14.0),), han(40), "zh", None)


def test_over_half_a_minute_is_too_long() -> None:
    with pytest.raises(VoiceError, match="too long"):
        cut.choose((Phrase(0.0, 4.0), Phrase(5.0, 31.5)), han(20), "zh", None)


def test_without_speech_there_is_no_prompt() -> None:
    with pytest.raises(VoiceError, match="nobody speaks"):
        cut.choose((), han(20), "zh", None)


def test_the_prompt_has_a_little_room_around_the_words() -> None:
    clip = Clip(joined(silence(1.0), speech(4.0), silence(1.0)), RATE_HZ, 0.0)
    prompt = cut.prompt(clip, cut.Cut((Phrase(1.0, 5.0),)), speech_db=-20.0)
    assert len(prompt) / RATE_HZ == pytest.approx(4.3)
    assert not prompt[: RATE_HZ // 20].any()


@pytest.mark.parametrize("peak", [0.01, 0.1, 0.9])
def test_all_prompts_have_one_loudness_and_none_is_clipped(peak: float) -> None:
    sound = speech(4.0, peak=peak)
    level_db = 10 * np.log10(np.mean(np.square(sound)))
    prompt = cut.prompt(Clip(sound, RATE_HZ, 0.0), cut.Cut((Phrase(0.0, 4.0),)), float(level_db))
    assert 10 * np.log10(np.mean(np.square(prompt))) == pytest.approx(-20.0, abs=1.0)
    assert np.abs(prompt).max() <= 0.951
