"""Japanese phonemes in Kokoro's alphabet; the whole converter where its extra is installed."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from daemon.synthesis.builtin import japanese
from daemon.synthesis.builtin.japanese import Japanese, kana_phonemes
from daemon.synthesis.engine import EngineError

HAS_OPENJTALK = importlib.util.find_spec("pyopenjtalk") is not None


@pytest.mark.parametrize(
    ("kana", "expected"),
    [
        ("センタク", "sentakɯ"),
        ("トーキョー", "toːkʲoː"),
        ("キップ", "kʲiʔpɯ"),
        ("シンブン", "ɕimbɯɴ"),
        ("テンキ", "teŋkʲi"),
        ("コンニャク", "koɲɲakɯ"),
        ("シュジュツ", "ɕɨʥɨʦɨ"),
        ("ファイル", "ɸaiɾɯ"),
        ("ティーム", "tʲiːmɯ"),
        ("ウィルス", "βiɾɯsɨ"),
        ("チェック", "ʨeʔkɯ"),
        ("ヴァイオリン", "vaioɾʲiɴ"),
    ],
)
def test_kana_become_narrow_phonemes(kana: str, expected: str) -> None:
    assert kana_phonemes(kana) == expected


def test_every_kana_is_in_the_vocabulary() -> None:
    data = Path(japanese.__file__).parent / "data" / "kokoro_vocab.json"
    vocabulary = set(json.loads(data.read_text("utf-8")))
    kana = [chr(code) for code in range(0x30A1, 0x30F7)]
    said = {
        kana_phonemes(first + second) for first in kana for second in ["", "ャ", "ュ", "ョ", "ァ", "ィ", "ェ"]
    }
    assert "" not in said
    assert set("".join(said)) <= vocabulary


def test_without_its_extra_the_error_tells_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyopenjtalk", None)
    with pytest.raises(EngineError, match=r"pip install -e '\.\[ja\]'"):
        Japanese().phonemes("こんにちは")


@pytest.mark.skipif(not HAS_OPENJTALK, reason="needs the extra [ja]")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("洗濯が終わりました。", "sentakɯ ɡa oβaɾʲimaɕita。"),
        ("お父さん、電話です", "otoːsaɴ、 deɴβadesɨ"),
    ],
)
def test_sentences_are_read_word_by_word(text: str, expected: str) -> None:
    assert Japanese().phonemes(text) == expected
