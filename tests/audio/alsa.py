"""A sound card made of files: real PortAudio over real ALSA, and what was played can be read back.

    card = AlsaFileDevice(tmp_path)
    card.create()
    speaker = Speaker(env=card.env)         # or os.environ.update(card.env) for a whole daemon
    ...
    heard = card.recordings()[-1]           # one for each time that the device was opened

ALSA's `file` over `null` takes samples as fast as they come; the player holds back by its own clock, so
announcements last as long as on a real card. The outputs are `default`, `recorder` and `fixed 48k`
(which turns everything into 48 kHz), and for each name in `fifos` one that writes to a FIFO of that
name: without a reader it hangs when it is opened, and with a reader that does not read, when it plays.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Recording:
    """What one open stream played."""

    sample_rate_hz: int
    channels: npt.NDArray[np.int16]  # (N, channels)

    @property
    def samples(self) -> npt.NDArray[np.int16]:
        """(N,) the first channel."""
        return self.channels[:, 0]

    @property
    def duration_s(self) -> float:
        return len(self.channels) / self.sample_rate_hz

    def sound(self) -> npt.NDArray[np.int16]:
        """The first channel without the silence before and after."""
        loud = np.flatnonzero(self.samples)
        return self.samples[loud[0] : loud[-1] + 1] if len(loud) else self.samples[:0]


@dataclass(frozen=True)
class AlsaFileDevice:
    """Sound outputs in `folder`; `env` makes a child process see these and no others."""

    folder: Path
    fifos: Sequence[str] = ()

    @property
    def env(self) -> dict[str, str]:
        return {"ALSA_CONFIG_PATH": str(self.folder / "asound.conf")}

    def create(self) -> None:
        """Writes the ALSA configuration, and the FIFOs."""
        config = [
            "</usr/share/alsa/alsa.conf>",
            # %r rate, %c channels; truncate false: a new file for each stream
            _file_pcm("recorder", self.folder / "heard.%r.%c.raw"),
            'pcm."fixed 48k" { type rate slave { pcm recorder rate 48000 } }',
            "pcm.!default { type plug slave.pcm recorder }",
        ]
        for name in self.fifos:
            os.mkfifo(self.folder / name)
            config.append(_file_pcm(name, self.folder / name, truncate="true"))
        (self.folder / "asound.conf").write_text("\n".join(config) + "\n")

    def add(self, name: str) -> None:
        """Plugs in one more output, which is recorded like the others."""
        with (self.folder / "asound.conf").open("a") as config:
            config.write(f"pcm.{name} {{ type plug slave.pcm recorder }}\n")

    def recordings(self) -> list[Recording]:
        """All that was played, in the order in which it ended."""
        files = sorted(self.folder.glob("heard.*"), key=lambda path: path.stat().st_mtime_ns)
        return [_read(file) for file in files if file.stat().st_size]


def _file_pcm(name: str, path: Path, truncate: str = "false") -> str:
    return (
        f'pcm.{name} {{ type file slave.pcm {{ type null }} file "{path}" '
        f'format "raw" truncate {truncate} perm 0600 }}'
    )


def _read(file: Path) -> Recording:
    _, rate, channels, *_ = file.name.split(".")
    return Recording(int(rate), np.fromfile(file, "<i2").reshape(-1, int(channels)))
