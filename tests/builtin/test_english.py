"""English phonemes: hibari's own, from packed tables."""

import pytest
from hibari.g2p import G2P

from daemon.synthesis.builtin.english import English, arpabet_phonemes

SENTENCES = [
    "The washing machine has finished.",
    "I read it yesterday, and I will read it again!",
    "Please record the record before 7:30 pm on March 3rd, 2024.",
    "Dr. Smith lives at 221B Baker St. and owns an iPhone.",
    "Warning: the boiler's pressure dropped to 0.8 bar at 45°C.",
    "She used to close the close door; the wind will wind it shut.",
    "MQTT, Wi-Fi and USB are used by blorfington's children.",
    "“Quoted,” he said — and left (quietly)...",
    "It costs $12.50, i.e. 20% more than the café's.",
    "Room 302, flight BA249, 1,234 people in 1999.",
]


@pytest.fixture(scope="module")
def english() -> English:
    return English()


@pytest.fixture(scope="module")
def hibari_g2p() -> G2P:
    return G2P()


@pytest.mark.parametrize("sentence", SENTENCES)
def test_packed_tables_give_hibaris_phonemes(english: English, hibari_g2p: G2P, sentence: str) -> None:
    assert english.phonemes([sentence]) == hibari_g2p(sentence)


@pytest.mark.parametrize(
    ("phones", "expected"),
    [
        (("M", "AY0", "N", "UW1", "T"), "mInˈut"),
        (("HH", "AH0", "L", "OW1"), "həlˈO"),
        (("W", "ER1", "L", "D"), "wˈɜɹld"),
        (("AA", "CH", "ZH", "ER0"), "ɑʧʒəɹ"),
    ],
)
def test_arpabet_becomes_the_same_alphabet(phones: tuple[str, ...], expected: str) -> None:
    assert arpabet_phonemes(phones) == expected


def test_an_annotated_word_keeps_its_sentence(english: English) -> None:
    said = english.phonemes(["I am a ", ("M", "AY0", "N", "UW1", "T"), " person."])
    assert said == "ˌI ɐm ɐ mInˈut pˈɜɹsᵊn."


@pytest.mark.parametrize(
    ("word", "like"), [("Tür", "Tur"), ("Ærø", "Aero"), ("Łódź", "Lodz"), ("Straße", "Strasse")]
)
def test_letters_with_marks_are_said_and_not_dropped(english: English, word: str, like: str) -> None:
    assert english.phonemes([word]) == english.phonemes([like])


def test_a_word_with_marks_that_the_lexicon_knows_is_read_from_it(english: English) -> None:
    assert english.phonemes(["café"]) == "kæfˈA"


def test_a_lone_a_is_a_letter_in_a_chinese_sentence(english: English) -> None:
    assert english.phonemes(["A"], letters=True) == "ˈA"
    assert english.phonemes(["Take a taxi"]).startswith("tˈAk ɐ")
