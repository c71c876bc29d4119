"""Writes a whole published folder with random weights, for tests and benchmarks."""

from pathlib import Path

from cosyvoice.config import SAMPLE_RATE_HZ
from cosyvoice.errors import ModelError
from cosyvoice.weights import building, manifest, random_checkpoint, random_onnx, random_tokenizer
from cosyvoice.weights.description import RANDOM_SEED
from cosyvoice.weights.networks import SIZES
from cosyvoice.weights.published import DESCRIPTION, TOKENIZER_FOLDER


def write(folder: Path, size: str, seed: int) -> None:
    """The same size and seed give the same folder, byte for byte. `size`: a key of `networks.SIZES`.

    Raises:
        ModelError: the folder is not empty, or cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ModelError([f"{folder} is not empty; choose a folder that does not exist yet"])
    config = SIZES[size]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        building.check_disk(folder, random_checkpoint.total_bytes(config))
        (folder / DESCRIPTION).write_text(f"sample_rate: {SAMPLE_RATE_HZ}\n{RANDOM_SEED}: {seed}\n")
        random_tokenizer.write(folder / TOKENIZER_FOLDER, config.llm)
        random_onnx.write_speaker_encoder(folder / manifest.SPEAKER_ENCODER, seed)
        random_onnx.write_speech_tokenizer(folder / manifest.SPEECH_TOKENIZER, seed)
        random_checkpoint.write(folder, config, seed)
    except OSError as error:
        raise ModelError([f"{error.filename or folder} cannot be written: {error.strerror}"]) from error
