"""Mandarin phonemes: those of Kokoro's training, and better where they were poor."""

import json
from pathlib import Path

import pytest

from cosyvoice.text.inventory import FINALS, INITIALS, read_syllable
from daemon.synthesis.builtin import readings, syllables
from daemon.synthesis.builtin.mandarin import SYLLABLE, Mandarin
from daemon.synthesis.builtin.phonemes import Phonemizer

DATA = Path(__file__).parents[1] / "data" / "mandarin_phonemes.json"
REFERENCE = json.loads(DATA.read_text("utf-8"))


@pytest.fixture(scope="module")
def mandarin() -> Mandarin:
    mandarin = Mandarin()
    mandarin.load()
    return mandarin


@pytest.fixture(scope="module")
def phonemizer() -> Phonemizer:
    return Phonemizer()


def _said(phonemizer: Phonemizer, text: str) -> str:
    return " ".join(piece.phonemes for piece in phonemizer.pieces(text, "zh", 500))


def _spell(pinyin: str) -> str:
    """Space-separated pinyin with tone digits as phonemes, without gaps."""
    found = [read_syllable(spelling) for spelling in pinyin.split()]
    return "".join(syllables.phonemes(syllable) for syllable in found if syllable is not None)


def test_most_words_and_sentences_are_those_of_the_training(phonemizer: Phonemizer) -> None:
    different = {text for text, said in REFERENCE["same"].items() if _said(phonemizer, text) != said}
    assert different == set()
    assert len(REFERENCE["same"]) >= 300


def test_the_others_differ_as_intended(phonemizer: Phonemizer) -> None:
    for text, said in REFERENCE["improved"].items():
        assert said["ours"] != said["reference"]
        assert _said(phonemizer, text) == said["ours"]


@pytest.mark.parametrize(
    ("text", "pinyin"),
    [
        ("银行", "yin2 hang2"), ("行走", "xing2 zou3"), ("孩子长大了", "hai2 zi5 zhang3 da4 le5"),
        ("长度", "chang2 du4"), ("重新开始", "chong2 xin1 kai1 shi3"), ("重量", "zhong4 liang4"),
        ("还有", "hai2 you3"), ("还书", "huan2 shu1"), ("还款", "huan2 kuan3"), ("首都", "shou3 du1"),
        ("都关了", "dou1 guan1 le5"), ("因为", "yin1 wei4"), ("设为十度", "she4 wei2 shi2 du4"),
        ("为您服务", "wei4 nin2 fu2 wu4"), ("慢慢地走", "man4 man4 de5 zou3"), ("地上", "di4 shang5"),
        ("跑得快", "pao3 de5 kuai4"), ("你得走了", "ni3 dei2 zou3 le5"), ("得到", "de2 dao4"),
        ("着火了", "zhao2 huo3 le5"), ("开着灯", "kai1 zhe5 deng1"), ("了解", "liao2 jie3"),
        ("空调调低", "kong1 tiao2 tiao2 di1"), ("一只猫", "yi4 zhi1 mao1"), ("只有", "zhi2 you3"),
        ("三种花", "san1 zhong3 hua1"), ("更新", "geng1 xin1"), ("更多", "geng4 duo1"),
        ("音乐", "yin1 yue4"), ("切换", "qie1 huan4"), ("一切", "yi2 qie4"), ("目的地", "mu4 di4 di4"),
        ("好奇", "hao4 qi2"), ("头发干了", "tou2 fa5 gan1 le5"), ("洗衣機", "xi3 yi1 ji1"), ("嗯", "en4"),
    ],
)  # fmt: skip
def test_a_character_is_read_by_its_phrase(mandarin: Mandarin, text: str, pinyin: str) -> None:
    assert mandarin.phonemes(text, {}).replace(" ", "") == _spell(pinyin)


@pytest.mark.parametrize(
    ("text", "pinyin"),
    [
        ("你好", "ni2 hao3"), ("我很好", "wo3 hen2 hao3"), ("展览馆", "zhan2 lan2 guan3"),
        ("小老虎", "xiao3 lao2 hu3"), ("请把门打开", "qing2 ba3 men2 da3 kai1"),
        ("不是", "bu2 shi4"), ("不好", "bu4 hao3"), ("不", "bu4"), ("对不起", "dui4 bu5 qi3"),
        ("一样", "yi2 yang4"), ("一起", "yi4 qi3"), ("一天", "yi4 tian1"), ("一百", "yi4 bai3"),
        ("第一", "di4 yi1"), ("第一个", "di4 yi1 ge4"), ("星期一", "xing1 qi1 yi1"),
        ("十一点", "shi2 yi1 dian3"), ("一月一号", "yi1 yue4 yi1 hao4"),
        ("二零二一年", "er4 ling2 er4 yi1 nian2"), ("三点一四", "san1 dian3 yi1 si4"),
        ("看一看", "kan4 yi5 kan4"), ("朋友们", "peng2 you5 men5"), ("妈妈", "ma1 ma5"),
    ],
)  # fmt: skip
def test_tones_change_in_connected_speech(mandarin: Mandarin, text: str, pinyin: str) -> None:
    assert mandarin.phonemes(text, {}).replace(" ", "") == _spell(pinyin)


def test_a_final_r_colours_the_syllable_and_a_child_does_not(mandarin: Mandarin) -> None:
    assert mandarin.phonemes("花儿", {}) == "xwa→ɚ"
    assert mandarin.phonemes("女儿", {}) == "ny↓ɚ↗"


def test_a_given_reading_stands_against_every_rule(mandarin: Mandarin) -> None:
    given = read_syllable("bu4")
    assert given is not None
    assert mandarin.phonemes("不是", {0: given}) == "pu↘ʂɨ↘"
    assert mandarin.phonemes(SYLLABLE, {0: given}) == "pu↘"


def test_every_syllable_is_in_the_vocabulary(phonemizer: Phonemizer) -> None:
    data = Path(syllables.__file__).parent / "data" / "kokoro_vocab.json"
    vocabulary = set(json.loads(data.read_text("utf-8")))
    spelt = (read_syllable(initial + final) for initial in ["", *INITIALS] for final in FINALS)
    said = {syllables.phonemes(syllable) for syllable in spelt if syllable is not None}
    assert len(said) > 1000
    assert set("".join(said)) <= vocabulary


def test_the_curated_readings_are_well_formed() -> None:
    for phrase, pinyin in readings.PHRASES.items():
        assert len(phrase) == len(pinyin.split()), phrase
        assert all(read_syllable(spelling) for spelling in pinyin.split()), phrase
    assert all(read_syllable(spelling) for spelling in readings.SINGLES.values())
