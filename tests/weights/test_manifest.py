"""The manifest can be read by the daemon, and tells a damaged folder at once."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from cosyvoice.config import TINY
from cosyvoice.errors import ModelError
from cosyvoice.weights import manifest
from cosyvoice.weights.manifest import Manifest, StoredFile

MADE = Manifest(
    format=manifest.FORMAT,
    model="a model",
    config=TINY,
    time_points=(0.0, 0.5),
    sources={"llm.pt": 4},
    files={manifest.LLM: StoredFile(2, "ab"), manifest.SPEAKER_ENCODER: StoredFile(3, "cd")},
    created="2026-11-30T12:00:00+00:00",
    version="1.2.3",
)


def write(folder: Path, text: bytes) -> None:
    (folder / manifest.FILE).write_bytes(text)


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    write(tmp_path, manifest.encode(MADE))
    assert manifest.read(tmp_path) == MADE


def test_a_folder_without_one_is_not_prepared(tmp_path: Path) -> None:
    assert not manifest.exists(tmp_path)
    with pytest.raises(ModelError, match="holds no prepared model; run `cosyvoiced model prepare`"):
        manifest.read(tmp_path)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"format": 1}', b"\xff"])
def test_a_damaged_one_is_told(text: bytes, tmp_path: Path) -> None:
    write(tmp_path, text)
    with pytest.raises(ModelError, match=r"manifest\.json is damaged"):
        manifest.read(tmp_path)


def test_another_format_is_told_before_anything_else_is_read(tmp_path: Path) -> None:
    write(tmp_path, b'{"format": 99, "shape": "unheard of"}')
    with pytest.raises(ModelError, match="has format 99 and this version reads 1"):
        manifest.read(tmp_path)


def test_the_fingerprint_is_of_what_is_heard() -> None:
    def of(**changes: object) -> str:
        return msgspec.structs.replace(MADE, **changes).fingerprint

    assert of(created="later", version="9", files={manifest.LLM: StoredFile(2, "ab")}) == MADE.fingerprint
    assert of(files={manifest.LLM: StoredFile(2, "ac")}) != MADE.fingerprint
    assert of(time_points=(0.0,)) != MADE.fingerprint


def test_a_missing_and_a_short_file_are_named(tiny_prepared: Path, copied: Callable[[Path], Path]) -> None:
    folder = copied(tiny_prepared)
    (folder / manifest.FLOW).unlink()
    (folder / manifest.MERGES).write_text("short")
    problems = manifest.misplaced(folder, manifest.read(folder))
    assert list(problems) == [manifest.FLOW, manifest.MERGES]
    assert problems[manifest.MERGES].startswith("tokenizer/merges.txt has 5 bytes instead of")
    assert manifest.misplaced(tiny_prepared, manifest.read(tiny_prepared)) == {}


def test_reading_it_loads_nothing_heavy() -> None:
    probe = "import sys, cosyvoice.weights.manifest, cosyvoice.weights.kernel_choice; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout
    assert {"torch", "numpy", "safetensors", "tokenizers"}.isdisjoint(loaded.split())
