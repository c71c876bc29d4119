"""Which sound output a configured name means (player process only).

PortAudio knows ALSA's sound cards and the names in its configuration, but not names with arguments
such as `plughw:CARD=Headphones,DEV=0`. For such a name we add one alias to ALSA's configuration of
this process, and PortAudio lists it like any other.
"""

import contextlib
import difflib
import os
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import cast

from daemon.audio.protocol import OutputDevice

ALIAS = "cosyvoiced"
AUTO = ("auto", "default")


class NoDevice(Exception):
    """There is nothing to play on; the message is one sentence for the user."""


def start_portaudio(wanted: str) -> ModuleType:
    """Starts PortAudio, which reads ALSA's configuration and the list of devices once for this process.

    Raises:
        NoDevice: PortAudio is not installed.
    """
    if ":" in wanted and wanted.isprintable():
        _add_alsa_alias(wanted)
    os.environ.setdefault("JACK_NO_START_SERVER", "1")  # PortAudio asks for JACK; it shall not start one
    try:
        with _quiet_stderr():
            import sounddevice  # here, since its import is what starts PortAudio
    except OSError as error:
        raise NoDevice(f"PortAudio is not installed (Debian: apt install libportaudio2): {error}") from error
    return cast(ModuleType, sounddevice)


def list_outputs(portaudio: ModuleType, wanted: str) -> tuple[list[OutputDevice], int]:
    """All outputs, and the index of the default one (negative: there is none)."""
    outputs = [
        OutputDevice(
            index=info["index"],
            name=wanted if info["name"] == ALIAS else info["name"],
            channels=info["max_output_channels"],
            sample_rate_hz=int(info["default_samplerate"]),
        )
        for info in portaudio.query_devices()
        if info["max_output_channels"] > 0
    ]
    return outputs, portaudio.default.device[1]


def choose(wanted: str, outputs: Sequence[OutputDevice], default_index: int) -> OutputDevice:
    """The output that `wanted` means: the default one, one of that name, or the first whose name holds it.

    Raises:
        NoDevice: there is none such; the message names the nearest.
    """
    if not outputs:
        raise NoDevice("this machine has no sound output")
    folded = wanted.casefold()
    if folded in AUTO:
        named = [output for output in outputs if output.index == default_index]
        return (named or list(outputs))[0]
    exact = [output for output in outputs if output.name.casefold() == folded]
    holding = [output for output in outputs if folded in output.name.casefold()]
    if exact or holding:
        return (exact or holding)[0]
    raise NoDevice(f"there is no sound output {wanted!r}; {_nearest(folded, outputs)}")


def _nearest(folded: str, outputs: Sequence[OutputDevice]) -> str:
    by_name = {output.name.casefold(): output.name for output in outputs}
    near = difflib.get_close_matches(folded, by_name, n=1, cutoff=0.4)
    if near:
        return f"the nearest is {by_name[near[0]]!r}"
    return "there are " + ", ".join(repr(output.name) for output in outputs)


@contextlib.contextmanager
def _quiet_stderr() -> Iterator[None]:
    """PortAudio tries every name in ALSA's configuration, and ALSA prints a line for each that fails."""
    stderr = os.dup(2)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)


def _add_alsa_alias(name: str) -> None:
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    # A file in memory: nothing to clean up, whatever way this process ends.
    descriptor = os.memfd_create("alsa-alias")
    os.write(descriptor, f'pcm.{ALIAS} {{ type empty slave.pcm "{quoted}" }}\n'.encode())
    base = os.environ.get("ALSA_CONFIG_PATH") or os.path.join(
        os.environ.get("ALSA_CONFIG_DIR", "/usr/share/alsa"), "alsa.conf"
    )
    os.environ["ALSA_CONFIG_PATH"] = f"{base}:/proc/self/fd/{descriptor}"
