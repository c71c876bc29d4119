"""The speech tokens that are silence, and how many of them in a row are heard."""

from collections.abc import Iterable, Iterator, Sequence

SILENCE_TOKENS = frozenset({1, 2, 28, 29, 55, 248, 494, 2241, 2242, 2322, 2323})  # of the published model
MAX_HEARD_RUN = 5  # of the published model: a fifth of a second


def shorten(tokens: Iterable[int]) -> Iterator[int]:
    """`tokens` without the silent ones after `MAX_HEARD_RUN` of them in a row."""
    run = 0
    for token in tokens:
        run = run + 1 if token in SILENCE_TOKENS else 0
        if run <= MAX_HEARD_RUN:
            yield token


def trailing_run(tokens: Sequence[int]) -> int:
    """How many silent tokens stand at the end."""
    run = 0
    while run < len(tokens) and tokens[-1 - run] in SILENCE_TOKENS:
        run += 1
    return run


def count_spoken(tokens: Iterable[int]) -> int:
    """How many are not silent."""
    return sum(token not in SILENCE_TOKENS for token in tokens)
