"""Packed tables answer as the dicts do that they were made from."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.synthesis.builtin.packed import PackedTable

_KEYS = st.text(alphabet=st.characters(exclude_categories=["C"]), max_size=6)
_VALUES = st.recursive(
    st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3), max_leaves=4
)


@given(st.dictionaries(_KEYS, _VALUES, max_size=20), st.booleans(), _KEYS)
def test_every_member_is_found_and_no_other(members: dict[str, object], indented: bool, other: str) -> None:
    text = json.dumps(members, ensure_ascii=False, indent=1 if indented else None)
    table, end = PackedTable.from_json(text)
    assert end == len(text)
    assert len(table) == len(members)
    assert {key: table.get(key) for key in members} == members
    assert (other in table) == (other in members)


def test_an_object_inside_another_is_packed_from_where_it_begins() -> None:
    text = '{"a": {"x": [1, "y"]}, "b": 2}'
    table, end = PackedTable.from_json(text, text.index("{", 1))
    assert table.get("x") == [1, "y"]
    assert text[end:] == ', "b": 2}'


def test_an_empty_table_holds_nothing() -> None:
    assert PackedTable.of(()).get("a", "default") == "default"


@pytest.mark.parametrize("text", ["[1]", '{"a" 1}'])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        PackedTable.from_json(text)
