"""Speech that has begun does not stop in the middle."""

import pytest

from cosyvoice.pacing import MARGIN, UNKNOWN_RTF, Pace, expected_s, may_begin

HOP_S = 1.0


def begins_with_s(rtf: float, whole_s: int) -> float:
    """Seconds of speech that are ready when the speaker may begin."""
    return next(ready for ready in range(1, whole_s + 1) if may_begin(ready, HOP_S, Pace(rtf, whole_s)))


@pytest.mark.parametrize("rtf", [0.3, 0.9, 1.2, 2.5, 6.0])
@pytest.mark.parametrize("whole_s", [1, 4, 12])
def test_no_hop_comes_after_the_sound_before_it_has_played(rtf: float, whole_s: int) -> None:
    ready_s = begins_with_s(rtf, whole_s)
    for hop in range(1, whole_s - int(ready_s) + 1):
        assert hop * HOP_S * rtf * MARGIN <= ready_s + (hop - 1) * HOP_S + 1e-9


def test_a_fast_machine_begins_with_the_first_hop() -> None:
    assert begins_with_s(0.9, whole_s=10) == 1


def test_a_slow_machine_waits_longer_for_longer_speech() -> None:
    assert begins_with_s(2.0, whole_s=4) < begins_with_s(2.0, whole_s=12) < 12


def test_all_that_there_is_may_begin_at_any_pace() -> None:
    assert may_begin(4.0, HOP_S, Pace(rtf=100.0, expected_s=4.0))


def test_at_an_unknown_pace_nothing_begins_before_the_end() -> None:
    assert not may_begin(10.0, HOP_S, Pace(UNKNOWN_RTF, expected_s=4.0))


@pytest.mark.parametrize(
    ("text", "least_s", "most_s"),
    [
        ("今天下午三点开会，请大家准时到场。", 3.0, 4.5),
        ("The washing machine has finished.", 1.5, 2.5),
        ("洗衣机 has finished", 1.0, 2.0),
        ("", 0.0, 0.0),
    ],
)
def test_the_length_of_speech_is_guessed(text: str, least_s: float, most_s: float) -> None:
    assert least_s <= expected_s(text, 1.0) <= most_s
    assert expected_s(text, 2.0) == expected_s(text, 1.0) / 2
