"""The guess of a text's language."""

import pytest

from cosyvoice.text.language import guess


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("请打开WiFi和Bluetooth", "zh"),
        ("洗濯が終わりました", "ja"),
        ("Dinner is ready", "en"),
        ("Tür", "en"),
        ("저녁 준비됐어요", "ko"),
        ("Ужин готов", "ru"),
        ("3.14", "de"),
        ("", "de"),
        ("[h][ào]", "zh"),
        ("[M][AY0] 3", "de"),
        ("say [h][ào]", "zh"),
        ("[foo] 你好", "zh"),
    ],
)
def test_the_script_tells_the_language(text: str, expected: str) -> None:
    assert guess(text, "de") == expected
