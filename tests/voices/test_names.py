"""Which names a voice may have."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosyvoice.errors import VoiceError
from cosyvoice.voices import names


@pytest.mark.parametrize(
    ("name", "stored"),
    [("mama", "mama"), ("Papa_2", "papa_2"), ("妈妈", "妈妈"), ("小明-a", "小明-a"), ("\uf900", "豈")],
)
def test_good_names_are_stored_in_one_spelling(name: str, stored: str) -> None:
    assert names.checked(name) == stored


@pytest.mark.parametrize(
    "name",
    [
        "",
        "-rf",
        "_x",
        ".x",
        "..",
        "a/b",
        "../a",
        "a.b",
        "a b",
        "a\n",
        "a\0",
        "é",
        "a" * 33,
        "ＡＢ",
        "💩",
        "a\u202e",
        "\udcff",
    ],
)
def test_bad_names_are_refused_in_one_printable_line(name: str) -> None:
    with pytest.raises(VoiceError) as caught:
        names.checked(name)
    assert str(caught.value).isprintable()


def test_a_reserved_name_is_refused_in_any_case() -> None:
    with pytest.raises(VoiceError, match="'heart' is taken"):
        names.checked("Heart", {"heart"})


@given(st.text(max_size=40))
def test_no_name_is_ever_a_path(name: str) -> None:
    try:
        stored = names.checked(name)
    except VoiceError:
        return
    assert not set(stored) & set("/\\.~ \0")
    assert len(stored.encode()) <= 96
    assert names.checked(stored) == stored
