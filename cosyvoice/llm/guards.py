"""Signs that the speech is no longer the text, told from the tokens alone.

Each guard names the fault in a sentence, or returns None. Thresholds lie far outside of speech: a false
alarm costs an announcement that was right, while a missed one is only heard as odd.
"""

from collections.abc import Sequence

from cosyvoice.config import SPEECH_TOKENS_PER_S
from cosyvoice.llm.silence import SILENCE_TOKENS, count_spoken, trailing_run

# Pauses between sentences and paragraphs stay under two seconds.
MAX_SILENT_RUN = 4 * SPEECH_TOKENS_PER_S

# A second of speech, and so a phrase of it said again and again, has periods up to this.
MAX_PERIOD = SPEECH_TOKENS_PER_S
# People hold a sound for two or three seconds at most; a phrase of one second has come four more times.
LOOP_WINDOW = 5 * SPEECH_TOKENS_PER_S
# The codebook has 6561 tokens: the same text said again shares few with the first time, a loop nearly all.
LOOP_SHARE = 0.8

# Hurried speech takes four tokens or more for one text id, and single phonemes, the shortest ids, two.
MIN_SPOKEN_PER_TEXT_ID = 1


def fault_so_far(tokens: Sequence[int]) -> str | None:
    """What is wrong while the speech goes on; to be asked after every token."""
    if trailing_run(tokens) > MAX_SILENT_RUN:
        return f"The speech fell silent for more than {MAX_SILENT_RUN / SPEECH_TOKENS_PER_S:.0f} s."
    # A loop goes on, so to look once a second is enough.
    if len(tokens) % SPEECH_TOKENS_PER_S == 0 and (period := loop_period(tokens)):
        return f"The speech repeats itself every {period / SPEECH_TOKENS_PER_S:.2f} s."
    return None


def fault_at_end(tokens: Sequence[int], text_ids: int) -> str | None:
    """What is wrong with speech that ended by itself, for a text of so many ids."""
    spoken = count_spoken(tokens)
    if spoken < max(1, MIN_SPOKEN_PER_TEXT_ID * text_ids):
        return f"The speech ended after {spoken / SPEECH_TOKENS_PER_S:.2f} s, too early for its text."
    return None


def loop_period(tokens: Sequence[int]) -> int | None:
    """After how many tokens the last `LOOP_WINDOW` repeat, silence aside; None when they do not."""
    window = tokens[-LOOP_WINDOW:]
    if len(window) < LOOP_WINDOW:
        return None
    for period in range(1, MAX_PERIOD + 1):
        pairs = zip(window[period:], window, strict=False)
        same = sum(later == earlier and later not in SILENCE_TOKENS for later, earlier in pairs)
        if same >= LOOP_SHARE * (LOOP_WINDOW - period):
            return period
    return None
