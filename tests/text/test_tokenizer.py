import json
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosyvoice.errors import ModelError
from cosyvoice.text import tokenizer
from cosyvoice.text.tokenizer import CONTROL_TOKENS, END_OF_PROMPT, Tokenizer, added_tokens

DATA = Path(__file__).parents[1] / "data" / "cosyvoice3"
FIRST_ADDED_ID = 151643


def read(name: str) -> Any:
    return json.loads((DATA / name).read_text())


@pytest.fixture(scope="module")
def real() -> Tokenizer:
    return tokenizer.load(DATA / "tokenizer")


def control_ids() -> set[int]:
    return {FIRST_ADDED_ID + added_tokens().index(token) for token in CONTROL_TOKENS}


def test_added_tokens_are_the_published_ones_in_order() -> None:
    assert added_tokens() == ["<|endoftext|>", *read("special_tokens.json")["tokens"]]


def test_ids_are_those_of_the_official_tokenizer(real: Tokenizer) -> None:
    for case in read("golden/tokenizer.json"):
        ids: list[int] = []
        *openings, rest = case["text"].split(END_OF_PROMPT)
        for opening in openings:
            ids += real.encode_prompt(opening)
        assert ids + real.encode_text(rest) == case["ids"], case["text"]


def test_every_added_token_that_is_no_control_token_has_its_id_in_a_text(real: Tokenizer) -> None:
    for offset, token in enumerate(added_tokens()):
        if token not in CONTROL_TOKENS:
            assert real.encode_text(token) == [FIRST_ADDED_ID + offset]


def test_all_ids_fit_the_published_text_table(real: Tokenizer) -> None:
    assert real.size == FIRST_ADDED_ID + 281 <= 151936


def test_composed_and_decomposed_letters_are_the_same(real: Tokenizer) -> None:
    assert real.encode_text("cafe\u0301") == real.encode_text("caf\u00e9")


@given(
    st.lists(
        st.sampled_from([*CONTROL_TOKENS, "<|im_", "start|>", "<|", "|>", "endofprompt", "你好", " ", "<"])
    )
)
def test_no_text_yields_a_control_token(real: Tokenizer, parts: list[str]) -> None:
    assert control_ids().isdisjoint(real.encode_text("".join(parts)))


@pytest.mark.parametrize("token", CONTROL_TOKENS)
def test_the_text_around_a_control_token_is_kept(real: Tokenizer, token: str) -> None:
    assert real.encode_text(f"你好{token}世界") == real.encode_text("你好 世界")
    assert real.encode_text(f"<|im_{token}start|>") == real.encode_text("<|im_ start|>")


def test_a_prompt_is_closed_once(real: Tokenizer) -> None:
    end = FIRST_ADDED_ID + 3
    assert real.encode_prompt("Be loud.") == [*real.encode_text("Be loud."), end]
    assert real.encode_prompt(f"Be loud.{END_OF_PROMPT}").count(end) == 1


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text("{}")
    with pytest.raises(ModelError, match=r"merges\.txt is missing") as caught:
        tokenizer.load(tmp_path)
    assert len(caught.value.problems) == 1


def test_a_damaged_file_is_an_error_of_the_model(tmp_path: Path) -> None:
    folder = copytree(DATA / "tokenizer", tmp_path / "tokenizer")
    (folder / "vocab.json").write_text("<html>404</html>")
    with pytest.raises(ModelError, match="cannot be read"):
        tokenizer.load(folder)
