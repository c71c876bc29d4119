from cosyvoice.llm.silence import count_spoken, shorten, trailing_run


def test_silence_after_five_tokens_in_a_row_is_not_heard() -> None:
    assert list(shorten([9, 1, 2, 28, 29, 55, 248, 494, 9, 9])) == [9, 1, 2, 28, 29, 55, 9, 9]


def test_speech_in_between_starts_the_count_again() -> None:
    tokens = [1] * 5 + [9] + [2] * 5
    assert list(shorten(tokens)) == tokens


def test_silence_is_counted_from_the_end() -> None:
    assert trailing_run([1, 9, 1, 2]) == 2
    assert trailing_run([1, 2]) == 2
    assert trailing_run([1, 9]) == 0
    assert trailing_run([]) == 0


def test_only_what_is_not_silent_counts_as_spoken() -> None:
    assert count_spoken([1, 9, 2322, 10]) == 2
