"""A WAV file that is not whole is known, whatever happened to it."""

import random
from pathlib import Path

import pytest

from daemon.audio.wav import WavError
from daemon.storage.soundness import whole_clip
from tests.storage.samples import a_wav

HEADER_BYTES = 44


def test_a_whole_file_is_what_it_says(tmp_path: Path) -> None:
    assert whole_clip(a_wav(tmp_path / "a.wav", 0.5)).duration_s == 0.5
    assert whole_clip(a_wav(tmp_path / "a.wav", 0.0)).duration_s == 0.0


@pytest.mark.parametrize("size_bytes", [0, 10, HEADER_BYTES, 4096, HEADER_BYTES + 2 * 24000 - 2])
def test_a_power_cut_at_any_byte_is_noticed(tmp_path: Path, size_bytes: int) -> None:
    path = a_wav(tmp_path / "a.wav")
    path.write_bytes(path.read_bytes()[:size_bytes])
    with pytest.raises(WavError):
        whole_clip(path)


def test_a_mangled_header_is_an_error_of_its_own_kind_or_none(tmp_path: Path) -> None:
    path = a_wav(tmp_path / "a.wav", 0.01)
    whole, chance = path.read_bytes(), random.Random(1)
    refused = 0
    for _ in range(2000):
        mangled = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            mangled[chance.randrange(HEADER_BYTES)] = chance.choice([0, 1, 255])
        path.write_bytes(mangled)
        try:
            whole_clip(path)
        except WavError:
            refused += 1
    assert refused > 1000


def test_a_sample_rate_of_zero_is_refused(tmp_path: Path) -> None:
    path = a_wav(tmp_path / "a.wav")
    content = bytearray(path.read_bytes())
    content[24:28] = bytes(4)
    path.write_bytes(content)
    with pytest.raises(WavError):
        whole_clip(path)
