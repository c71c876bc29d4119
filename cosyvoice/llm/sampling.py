"""Repetition-aware sampling: from the nucleus, unless that would repeat; then from all there is.

Pure functions of the logits, the recent tokens and the request's own generator, on one thread: the same
request and seed give the same tokens, whatever ran before.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cosyvoice.config import SPEECH_CODEBOOK
from cosyvoice.errors import GenerationError

# The values that the published model is sampled with.
NUCLEUS_MASS = 0.8
NUCLEUS_IDS = 25
REPEAT_WINDOW = 10  # recent tokens, among which the next is not to be: its tenth part is one occurrence


def new_generator(seed: int) -> np.random.Generator:
    """One request's private generator."""
    return np.random.Generator(np.random.Philox(seed))


def sample(
    logits: NDArray[np.float32], recent: Sequence[int], generator: np.random.Generator, may_stop: bool
) -> int:
    """Draws the next token; any id from `SPEECH_CODEBOOK` on ends the speech.

    Args:
        logits: (speech_vocab,); not changed.
        recent: the tokens generated so far, of which the last `REPEAT_WINDOW` matter.
        generator: drawn from once, or twice where the first draw repeats.
        may_stop: False below the minimum length: no id that ends the speech is drawn.

    Raises:
        GenerationError: the logits are not numbers.
    """
    scores = logits.astype(np.float64)
    if not may_stop:
        scores[SPEECH_CODEBOOK:] = -np.inf
    chances = softmax(scores)
    kept = nucleus(chances)
    token = int(kept[draw(chances[kept], generator)])
    if token in recent[-REPEAT_WINDOW:]:
        scores[token] = -np.inf
        token = draw(softmax(scores), generator)
    return token


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Chances that sum to 1; a score of -inf has none. Raises `GenerationError` where none is a number."""
    best = scores.max()
    if not np.isfinite(best):
        raise GenerationError("The language model's scores are not numbers; its weights may be damaged.")
    chances: NDArray[np.float64] = np.exp(scores - best)
    chances /= chances.sum()
    return chances


def nucleus(chances: NDArray[np.float64]) -> NDArray[np.intp]:
    """The likeliest ids, best first, as long as those before have less than `NUCLEUS_MASS` together."""
    best = np.argpartition(chances, -NUCLEUS_IDS)[-NUCLEUS_IDS:]
    best = best[np.argsort(-chances[best], kind="stable")]
    mass_before = np.cumsum(chances[best]) - chances[best]
    return best[mass_before < NUCLEUS_MASS]


def draw(chances: NDArray[np.float64], generator: np.random.Generator) -> int:
    """An index, drawn in proportion to `chances`, which need not sum to 1; never one without a chance."""
    heights = np.cumsum(chances)
    index = np.searchsorted(heights, generator.random() * heights[-1], side="right")
    last = np.flatnonzero(chances)[-1]  # where rounding lifts the drawn height to the top
    return int(min(index, last))
