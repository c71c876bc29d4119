"""Bracket annotations: what passes, what is rewritten, what is refused."""

import subprocess
import sys

import pytest

from cosyvoice.text.annotations import AnnotationError, Arpabet, Pinyin, Tag, Text, canonical, parse
from cosyvoice.text.inventory import FINALS, INITIALS, TOKENS, Syllable, read_syllable, tokens_of

_AFTER_JQXY = str.maketrans("ǘǚǜ", "úǔù")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("她的爱[h][ào]是画画", "她的爱[h][ào]是画画"),
        ("行[xíng]不行", "行[x][íng]不行"),
        ("她好[hao4]奇", "她好[h][ào]奇"),
        ("[h][ao4]", "[h][ào]"),
        ("[lüè][nv3][jü2]", "[l][vè][n][ǚ][j][ú]"),
        ("[ài]情", "[ài]情"),
        ("[Breath]嗯", "[breath]嗯"),
        ("这是[M][AY0][N][UW1][T]字", "这是[M][AY0][N][UW1][T]字"),
    ],
)
def test_annotations_get_the_models_spelling(text: str, expected: str) -> None:
    assert canonical(text) == expected


def test_spans_carry_what_they_mean() -> None:
    assert parse("爱[h][ào]，[M][AY0][laughter]") == (
        Text("爱"),
        Pinyin("[h][ào]", Syllable("h", "ao", 4)),
        Text("，"),
        Arpabet("[M][AY0]", ("M", "AY0")),
        Tag("[laughter]", "laughter"),
    )


def test_a_space_parts_two_english_words() -> None:
    words = [span for span in parse("[HH][AY1] [Y][UW1]") if isinstance(span, Arpabet)]
    assert [word.phones for word in words] == [("HH", "AY1"), ("Y", "UW1")]


@pytest.mark.parametrize(
    "text", ["见[1]", "[会议]改期", "[see below]", "[2025-12-29]", "a[0] = [", "[привет]"]
)
def test_bracketed_prose_stays_text(text: str) -> None:
    assert parse(text) == (Text(text),)


@pytest.mark.parametrize(
    ("text", "bracket", "nearest"),
    [
        ("你好[foo]世界", "[foo]", "[o]"),
        ("[laghter]", "[laghter]", "[laughter]"),
        ("[ay0]", "[ay0]", "[AY0]"),
        ("[hao]", "[hao]", "[h][ào]"),
        ("[shui5]", "[shui5]", "[sh][uī]"),
        ("[er1]", "[er1]", "[èr]"),
        ("字[b]", "[b]", None),
        ("[x][foo]", "[x]", None),
    ],
)
def test_a_mistyped_annotation_is_named_with_the_nearest_valid_one(
    text: str, bracket: str, nearest: str | None
) -> None:
    with pytest.raises(AnnotationError) as caught:
        parse(text)
    assert caught.value.bracket == bracket
    assert caught.value.nearest == nearest
    assert bracket in str(caught.value)


def test_the_inventory_is_the_tokenizers() -> None:
    assert len(TOKENS) == 272
    assert (len(INITIALS), len(FINALS)) == (23, 153)
    assert TOKENS.isdisjoint({"ǖ", "vē", "ēr", "ui", "ie", "er", "v"})


@pytest.mark.parametrize("initial", sorted(INITIALS))
def test_tokens_that_make_a_syllable_come_back_as_they_were(initial: str) -> None:
    ambiguous = {"ue", "uē", "ué", "uě", "uè", "vè"}  # two spellings of üe: the initial decides
    for final in FINALS - ambiguous:
        syllable = read_syllable(initial + final)
        if syllable is not None and syllable.initial == initial:
            assert tokens_of(syllable) in {(initial, final), (initial, final.translate(_AFTER_JQXY))}


def test_hostile_brackets_take_linear_time() -> None:
    assert parse("[" * 2**20) == (Text("[" * 2**20),)
    assert len(parse("[a]" * 50_000)) == 50_000


def test_the_daemon_may_import_it_for_nothing() -> None:
    code = (
        "import sys; before = set(sys.modules); import cosyvoice.text.annotations, cosyvoice.text.cleanup;"
        "new = {m.split('.')[0] for m in set(sys.modules) - before};"
        "print(sorted(new - set(sys.stdlib_module_names) - {'cosyvoice'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=True
    )
    assert done.stdout.strip() == "[]"
