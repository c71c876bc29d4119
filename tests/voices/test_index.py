"""What a voice file says of itself, and that nothing heavy is needed to read it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosyvoice.errors import VoiceError
from cosyvoice.voices import index
from cosyvoice.voices.index import read_header
from tests.voices.voice_files import HEADER, written_voice

PROBE = """
import sys
from pathlib import Path
from cosyvoice.voices.store import VoiceStore
print([voice.name for voice in VoiceStore(Path(sys.argv[1])).list().voices])
print([name for name in ("numpy", "torch", "safetensors", "soundfile", "onnxruntime") if name in sys.modules])
"""


def test_a_header_comes_back_as_it_was_written(tmp_path: Path) -> None:
    header = read_header(written_voice(tmp_path / "mama.safetensors"))
    assert (header.name, header.transcript, header.findings) == ("mama", HEADER.transcript, HEADER.findings)
    assert header.tokens == 75
    assert header.prompt_duration_s == 3.0
    assert len(header.digest) == 64


def test_listing_needs_the_standard_library_only(tmp_path: Path) -> None:
    written_voice(tmp_path / "mama.safetensors")
    probe = subprocess.run(
        [sys.executable, "-c", PROBE, str(tmp_path)], capture_output=True, text=True, timeout=50, check=True
    )
    assert probe.stdout.splitlines() == ["['mama']", "[]"]


def test_a_file_that_others_can_read_is_closed_to_them(tmp_path: Path) -> None:
    path = written_voice(tmp_path / "mama.safetensors")
    path.chmod(0o644)
    read_header(path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_link_is_refused(tmp_path: Path) -> None:
    written_voice(tmp_path / "mama.safetensors")
    (tmp_path / "papa.safetensors").symlink_to(tmp_path / "mama.safetensors")
    with pytest.raises(VoiceError, match="is a symbolic link"):
        read_header(tmp_path / "papa.safetensors")


def test_a_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "mama.safetensors")
    with pytest.raises(VoiceError, match="is no file"):
        read_header(tmp_path / "mama.safetensors")


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "mama.safetensors"
    path.touch()
    os.truncate(path, 2**33)
    with pytest.raises(VoiceError, match="is no voice: it has 8589934592 bytes"):
        read_header(path)


def test_a_missing_voice_is_named(tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match="there is no voice 'mama'"):
        read_header(tmp_path / "mama.safetensors")


def test_a_renamed_file_says_its_name(tmp_path: Path) -> None:
    path = written_voice(tmp_path / "mama.safetensors").rename(tmp_path / "papa.safetensors")
    with pytest.raises(VoiceError, match=r"holds the voice 'mama': name it mama\.safetensors"):
        read_header(path)


@pytest.mark.parametrize("kept", [0, 4, 8, 100, 1500, -1])
def test_a_file_cut_short_is_one_sentence(kept: int, tmp_path: Path) -> None:
    path = written_voice(tmp_path / "mama.safetensors")
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(VoiceError, match=r"is no voice, or damaged") as caught:
        read_header(path)
    assert len(caught.value.problems) == 1


def test_another_safetensors_file_is_no_voice(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    save_file({"weight": np.zeros((2, 2), dtype=np.float32)}, tmp_path / "mama.safetensors")
    with pytest.raises(VoiceError, match="'__metadata__' is missing"):
        read_header(tmp_path / "mama.safetensors")


def rewritten(path: Path, change: dict[str, object]) -> Path:
    """The voice file with some of the fields about the voice changed."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    voice = {**json.loads(header["__metadata__"]["voice"]), **change}
    header["__metadata__"]["voice"] = json.dumps(voice)
    encoded = json.dumps(header).encode()
    path.write_bytes(len(encoded).to_bytes(8, "little") + encoded + data[8 + length :])
    return path


@pytest.mark.parametrize(
    "change",
    [
        {"transcript": 7},
        {"transcript": "\x1b[2J"},
        {"created": "now\n"},
        {"gender": 1},
        {"source_duration_s": "long"},
        {"findings": [{"check": "noise", "level": "fatal", "what": ""}]},
        {"findings": [{"check": 1, "level": "ok", "what": ""}]},
        {"findings": "none"},
        {"unknown": ""},
        {"name": "../mama"},
    ],
)
def test_a_field_of_another_kind_is_refused(change: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(VoiceError):
        read_header(rewritten(written_voice(tmp_path / "mama.safetensors"), change))


@pytest.mark.parametrize("shape", [[], [0], [True], [1.5], ["75"], [None], [10**9], [[75]]])
def test_a_shape_that_is_none_is_refused(shape: list[object], tmp_path: Path) -> None:
    path = written_voice(tmp_path / "mama.safetensors")
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header["speech_tokens"]["shape"] = shape
    encoded = json.dumps(header).encode()
    path.write_bytes(len(encoded).to_bytes(8, "little") + encoded + data[8 + length :])
    with pytest.raises(VoiceError):
        read_header(path)


def test_a_later_format_is_told(tmp_path: Path) -> None:
    path = written_voice(tmp_path / "mama.safetensors")
    path.write_bytes(path.read_bytes().replace(b'"cosyvoiced_voice":"1"', b'"cosyvoiced_voice":"9"'))
    with pytest.raises(VoiceError, match="its format is '9', this version reads 1"):
        read_header(path)


@given(st.binary(max_size=300), st.integers(0, 200))
def test_no_header_breaks_the_reader(body: bytes, length: int) -> None:
    data = length.to_bytes(8, "little") + body
    with pytest.raises(VoiceError):
        index.parse(data, len(data), Path("mama.safetensors"))


JSON = st.recursive(
    st.none() | st.integers(-2, 90) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
)


@given(JSON, JSON, JSON)
def test_no_json_breaks_the_reader(metadata: object, tokens: object, voice: object) -> None:
    for about in (metadata, {"cosyvoiced_voice": "1", "voice": voice}):
        body = json.dumps({"__metadata__": about, "speech_tokens": tokens, "mel": tokens}).encode()
        data = len(body).to_bytes(8, "little") + body
        with pytest.raises(VoiceError):
            index.parse(data, len(data), Path("mama.safetensors"))
