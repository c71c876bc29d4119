"""What can be wrong with a recording, each check a pure function of what was measured.

The same findings can be shown on a page while somebody speaks. The bounds come from twelve studio clips of
three people that were spoilt step by step; "alike" is the cosine of the speaker embedding before and after.
"""

from cosyvoice.voices.activity import Activity
from cosyvoice.voices.clip import Clip
from cosyvoice.voices.cut import MAX_PROMPT_S, MIN_PROMPT_S, Cut
from cosyvoice.voices.findings import Finding, Level

FULL_BAND_HZ = 24000  # the sample rate from which a recording holds all that the prompt's mel bands show

_CLIPPED_NOTE, _CLIPPED_PROBLEM = 2e-4, 1e-2  # at 1 % of the samples: 0.97 alike, and the crackle is imitated
_SNR_NOTE_DB, _SNR_PROBLEM_DB = 25.0, 15.0  # pink noise: 0.96 and 0.93 alike; the clips had 33 to 68 dB
_LEVEL_NOTE_DB, _LEVEL_PROBLEM_DB = -36.0, -46.0  # 0.995 and 0.99 alike without noise, which then comes near
_SPEECH_NOTE, _SPEECH_PROBLEM = 0.6, 0.4  # the clips had 0.89 or more; pauses of a prompt are imitated too


def signal(clip: Clip, activity: Activity, cut: Cut) -> list[Finding]:
    """All checks of the sound itself."""
    return [
        length(cut.duration_s, cut.left_out_s),
        band(clip.sample_rate_hz),
        clipping(clip.clipped),
        level(activity.speech_db),
        noise(activity.snr_db),
        pauses(cut.speech_s / cut.duration_s),
    ]


def length(duration_s: float, left_out_s: float = 0.0) -> Finding:
    what = f"{duration_s:.1f} s from the first to the last word"
    if duration_s < MIN_PROMPT_S:
        return Finding("length", "problem", what, "record one or two whole sentences, 3 to 10 s")
    if duration_s > MAX_PROMPT_S:
        return Finding("length", "problem", what, "cut it, or add --until SECONDS")
    if left_out_s:
        what += f"; {left_out_s:.1f} s after that are cut off"
        return Finding("length", "note", what, "see that --text ends where the sound is cut")
    return Finding("length", "ok", what)


def band(sample_rate_hz: int) -> Finding:
    what = f"{sample_rate_hz} samples a second"
    if sample_rate_hz < FULL_BAND_HZ:
        return Finding("band", "note", what, "record with 24000 or more for a clearer voice")
    return Finding("band", "ok", what)


def clipping(clipped: float) -> Finding:
    if clipped < _CLIPPED_NOTE:
        return Finding("clipping", "ok", "no peak is cut off")
    what = f"{clipped:.2%} of the samples are cut off at the top"
    do = "turn the microphone down, or step back, and record again"
    return Finding("clipping", _rating(clipped >= _CLIPPED_PROBLEM), what, do)


def level(speech_db: float) -> Finding:
    what = f"the speech is at {speech_db:.0f} dB of full scale"
    if speech_db >= _LEVEL_NOTE_DB:
        return Finding("level", "ok", what)
    do = "come nearer, about a hand's length, or turn the microphone up"
    return Finding("level", _rating(speech_db < _LEVEL_PROBLEM_DB), what, do)


def noise(snr_db: float) -> Finding:
    what = f"the speech is {snr_db:.0f} dB over what is heard between the words"
    if snr_db >= _SNR_NOTE_DB:
        return Finding("noise", "ok", what)
    do = "record in a quiet room, without music, fan or echo"
    return Finding("noise", _rating(snr_db < _SNR_PROBLEM_DB), what, do)


def pauses(speech: float) -> Finding:
    what = f"{speech:.0%} of the time somebody speaks"
    if speech >= _SPEECH_NOTE:
        return Finding("pauses", "ok", what)
    return Finding("pauses", _rating(speech < _SPEECH_PROBLEM), what, "speak on, without long pauses")


def _rating(is_problem: bool) -> Level:
    return "problem" if is_problem else "note"
