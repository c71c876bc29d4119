from pathlib import Path

import pytest

from tests.audio.alsa import AlsaFileDevice


@pytest.fixture
def card(tmp_path: Path) -> AlsaFileDevice:
    device = AlsaFileDevice(tmp_path)
    device.create()
    return device
