"""Encodes 16-bit mono PCM: `python -m daemon.web.encode FORMAT RATE_HZ`, from stdin to stdout."""

import io
import sys

import soundfile

KINDS = {"flac": ("FLAC", "PCM_16"), "opus": ("OGG", "OPUS"), "mp3": ("MP3", "MPEG_LAYER_III")}


def encode(pcm: bytes, encoding: str, sample_rate_hz: int) -> bytes:
    """The whole file; libsndfile goes back to its beginning at the end, so it cannot be piped."""
    container, codec = KINDS[encoding]
    file = io.BytesIO()
    with soundfile.SoundFile(file, "w", sample_rate_hz, 1, codec, format=container) as sound:
        sound.buffer_write(pcm, "int16")
    return file.getvalue()


if __name__ == "__main__":
    sys.stdout.buffer.write(encode(sys.stdin.buffer.read(), sys.argv[1], int(sys.argv[2])))
