"""Reading numbers, units and signs aloud."""

import json
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cosyvoice.text import chinese, english
from cosyvoice.text import normalize as module
from cosyvoice.text.annotations import AnnotationError
from cosyvoice.text.cleanup import clean, has_speech
from cosyvoice.text.english import cardinal
from cosyvoice.text.normalize import normalize
from cosyvoice.text.split import split

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "text_cases.json").read_text("utf-8")
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["text"])[:20])
def test_known_faults_of_other_programs(case: dict[str, Any]) -> None:
    text = clean(case["text"])
    if case.get("outcome") == "nothing_to_say":
        assert not has_speech(text)
        return
    if case.get("outcome") == "bad_annotation":
        with pytest.raises(AnnotationError):
            normalize(text, case["lang"])
        return
    said = normalize(text, case["lang"])
    assert all(part in said for part in [*case.get("has", []), *case.get("keeps", [])])
    assert not any(part in said for part in case.get("never", []))
    limit = case.get("pieces_max_chars", 80)
    pieces = split(said, limit)
    assert all(len(piece) <= limit for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(said.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("血压135/85", "血压一百三十五比八十五"),
        ("气压1013hPa，风速3m/s", "气压一千零一十三百帕，风速每秒三米"),
        ("PM2.5为35ug/m3", "PM二点五为三十五微克每立方米"),
        ("电压380V，功率1.5kW", "电压三百八十伏，功率一点五千瓦"),
        ("音量60dB", "音量六十分贝"),
        ("心率72次/分", "心率七十二次每分"),
        ("￥99", "九十九元"),
        ("共￥1,250.00元", "共一千二百五十元"),
        ("G1234次列车", "G一二三四次列车"),
        ("航班MU 5137", "航班MU五一三七"),
        ("请到302教室", "请到三零二教室"),
        ("取件码8-2-3015", "取件码八杠二杠三零一五"),
        ("验证码：883921，5分钟内有效", "验证码：八八三九二一，五分钟内有效"),
        ("致电010-62345678", "致电零幺零六二三四五六七八"),
        ("138 0013 8000", "幺三八零零幺三八零零零"),
        ("拨打120", "拨打幺二零"),
        ("体重120斤", "体重一百二十斤"),
        ("20:30开会", "二十点三十分开会"),
        ("0:30", "零点三十分"),
        ("8:00-9:00", "八点到九点"),
        ("比分3:2", "比分三比二"),
        ("-5℃", "负五摄氏度"),
        ("-5~3℃", "负五到三摄氏度"),
        ("3-5天", "三到五天"),
        ("20%-30%", "百分之二十到百分之三十"),
        ("-3%", "负百分之三"),
        ("2025.12.29", "二零二五年十二月二十九日"),
        ("12月29日", "十二月二十九日"),
        ("192.168.1.1", "一九二点一六八点一点一"),
        ("还剩2台，第2天", "还剩两台，第二天"),
        ("下午2点半", "下午两点半"),
        ("3#楼", "三号楼"),
        ("请连接WiFi和iPhone 15", "请连接WiFi和iPhone 十五"),
        ("你好~", "你好"),
        ("2月2日", "二月二日"),
        ("1~2天，周一~周五", "一到两天，周一到周五"),
        ("+8613912345678", "加八六幺三九幺二三四五六七八"),
        ("50mg/次，3次/日", "五十毫克每次，三次每日"),
        ("第1/3页", "第一页共三页"),
        ("误差±5%", "误差正负百分之五"),
        ("12栋3单元502", "十二栋三单元五零二"),
        ("302路公交", "三零二路公交"),
        ("CO₂大于800", "CO二大于八百"),
        ("D2次列车", "D二次列车"),
    ],
)
def test_chinese_is_read_as_people_read_it(text: str, expected: str) -> None:
    assert normalize(text, "zh") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-5°C outside", "minus five degrees Celsius outside"),
        ("at 7:05", "at seven oh five"),
        ("at 20:30", "at twenty thirty"),
        ("2.5%", "two point five percent"),
        ("5-10%", "five to ten percent"),
        ("$3.50", "three dollars and fifty cents"),
        ("£1", "one pound"),
        ("1,234 people", "one thousand two hundred thirty four people"),
        ("the 22nd", "the twenty second"),
        ("3-5 days", "three to five days"),
        ("120/80 mmHg", "one hundred and twenty over eighty millimeters of mercury"),
        ("2.5 mmol/L", "two point five millimoles per liter"),
        ("1013 hPa", "one thousand thirteen hectopascals"),
        ("call 555-1234", "call five five five, one two three four"),
        ("+1 555 123 4567", "plus one, five five five, one two three, four five six seven"),
        ("flight CA1234", "flight C A one two three four"),
        ("room 302", "room three zero two"),
        ("#3 and No. 5", "number three and number five"),
        ("v2.1.0", "two point one point zero"),
        ("the 1990s", "the nineteen nineties"),
        ("5 < 7", "five is less than seven"),
        ("R&D", "R and D"),
        ("24/7", "twenty four seven"),
        ("2  spaces", "two spaces"),
    ],
)
def test_english_is_read_as_people_read_it(text: str, expected: str) -> None:
    assert normalize(text, "en") == expected


@pytest.mark.parametrize(
    ("number", "words"), [(0, "zero"), (-7, "minus seven"), (1_000_013, "one million thirteen")]
)
def test_cardinals(number: int, words: str) -> None:
    assert cardinal(number) == words


@pytest.mark.parametrize("unit", ["1", "1-", "1.", "1,", "A1", "电话", "10^"])
@pytest.mark.parametrize("rules", [chinese.before, english.before])
def test_the_longest_hostile_text_is_rewritten_at_once(rules: Callable[[str], str], unit: str) -> None:
    began = time.perf_counter()
    rules(unit * (2000 // len(unit)))
    assert time.perf_counter() - began < 1.0  # some 0.1 s; a rule that backtracks takes far longer


def test_other_languages_keep_their_digits() -> None:
    assert normalize("Um 10 Uhr", "de") == "Um 10 Uhr"


def test_a_fault_of_the_rules_leaves_the_text(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(text: str) -> str:
        raise AssertionError(text)

    monkeypatch.setattr(module, "_rules", lambda language: broken)
    with caplog.at_level(logging.WARNING):
        assert normalize("还有3天[h][ào] ", "zh") == "还有3天[h][ào] "
    assert "cannot read out" in caplog.text


def test_a_fault_costs_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def picky(text: str) -> str:
        if "坏" in text:
            raise AssertionError(text)
        return text.replace("3", "三")

    monkeypatch.setattr(module, "_rules", lambda language: picky)
    assert normalize("坏3。好3。", "zh") == "坏3。好三。"
