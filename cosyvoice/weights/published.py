"""The published folder: what must be in it, and the sentences for what is wrong with it."""

import json
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from cosyvoice.config import ModelConfig
from cosyvoice.errors import ModelError
from cosyvoice.text.tokenizer import added_tokens
from cosyvoice.weights import kinds, manifest
from cosyvoice.weights.description import NAME, WHERE, Description, describe
from cosyvoice.weights.networks import NETWORKS, SIZES, Network
from cosyvoice.weights.rules import check

TUNED_LLM = "llm.rl.pt"  # the same network after reinforcement learning: fewer errors
TOKENIZER_FOLDER = "CosyVoice-BlankEN"
DESCRIPTION = "cosyvoice3.yaml"


class Part(NamedTuple):
    """A file of the published folder, and its published size."""

    name: str
    size: str


SPEAKING = (
    Part("llm.pt", "2.0 GB"),
    Part("flow.pt", "1.3 GB"),
    Part("hift.pt", "83 MB"),
    Part(f"{TOKENIZER_FOLDER}/vocab.json", "2.8 MB"),
    Part(f"{TOKENIZER_FOLDER}/merges.txt", "1.7 MB"),
)
ENROLMENT = (Part(manifest.SPEAKER_ENCODER, "28 MB"), Part(manifest.SPEECH_TOKENIZER, "970 MB"))


@dataclass(frozen=True)
class PublishedModel:
    """A published folder in which every file and every tensor is as it must be."""

    folder: Path
    config: ModelConfig
    description: Description
    files: dict[str, Path]  # the name of its `Part` -> where it really is

    def tensors(self, network: Network) -> dict[str, Tensor]:
        """Memory-mapped anew: what was read of an earlier mapping is given back with that one."""
        tensors = read_tensors(self.files[network.published_file])
        return {network.canonical(name): tensor for name, tensor in tensors.items()}


def open_folder(folder: Path, enrolment: bool) -> PublishedModel:
    """Looks at everything that can be told without reading the weights themselves.

    Raises:
        ModelError: one sentence for each file or tensor that is missing or odd.
    """
    if not folder.is_dir():
        raise ModelError([f"{folder} is no folder; it should be a copy of FunAudioLLM/{NAME}"])
    if manifest.exists(folder):
        raise ModelError([f"{folder} is prepared already; give the published folder"])
    if release := kinds.folder_fault(folder):
        raise ModelError([f"{folder} is {release}, and only CosyVoice 3 fits; {WHERE}"])
    files, problems = _find(folder, SPEAKING + (ENROLMENT if enrolment else ()))
    if problems:
        raise ModelError(_inner_folder(folder) + problems)
    description = describe(folder / DESCRIPTION)
    config = _check_tensors(files)
    _check_vocabulary(files[f"{TOKENIZER_FOLDER}/vocab.json"], config.llm.vocab)
    return PublishedModel(folder, config, description, files)


def _find(folder: Path, parts: tuple[Part, ...]) -> tuple[dict[str, Path], list[str]]:
    files: dict[str, Path] = {}
    problems = []
    for part in parts:
        path = folder / part.name
        if part.name == "llm.pt" and not path.exists():
            path = folder / TUNED_LLM if (folder / TUNED_LLM).exists() else path
        name = path.relative_to(folder)
        if not path.is_file():
            what = "is missing" if not path.exists() else "is no file"
            problems.append(f"{name} {what} ({part.size}): {WHERE}")
            continue
        try:
            fault = kinds.file_fault(path)
        except OSError as error:
            problems.append(f"{name} cannot be read: {error.strerror}")
            continue
        if fault:
            found = _human(path.stat().st_size)
            problems.append(f"{name} {fault} ({found} of {part.size}): {WHERE}")
        files[part.name] = path
    return files, problems


def _inner_folder(folder: Path) -> list[str]:
    """A hint for whoever gave the folder around the model's."""
    inner = [path.parent for name in ("flow.pt", "llm.pt") for path in sorted(folder.glob(f"*/{name}"))]
    return [f"the model seems to be in {inner[0]}: give that folder"] if inner else []


def _check_tensors(files: Mapping[str, Path]) -> ModelConfig:
    """Holds every tensor against the layout of the size that the language model has."""
    shapes = {}
    problems: list[str] = []
    for network in NETWORKS:
        path = files[network.published_file]
        try:
            tensors = read_tensors(path)
        except ModelError as error:
            problems += error.problems
            continue
        found = {network.canonical(name): tuple(tensor.shape) for name, tensor in tensors.items()}
        if fault := kinds.network_fault(network.name, found):
            problems.append(f"{path.name} {fault}: {WHERE}")
        shapes[network] = found
    if problems:
        raise ModelError(problems)
    config = next((size for size in SIZES.values() if _is_size(shapes[NETWORKS[0]], size)), SIZES["full"])
    for network, found in shapes.items():
        try:
            check(found, network.published(config), files[network.published_file].name)
        except ModelError as error:
            problems += error.problems
    if problems:
        raise ModelError(problems)
    return config


def _is_size(found: Mapping[str, tuple[int, ...]], config: ModelConfig) -> bool:
    return found.get("llm_decoder.weight") == (config.llm.speech_vocab, config.llm.hidden)


def _check_vocabulary(path: Path, rows: int) -> None:
    try:
        vocabulary = json.loads(path.read_bytes())
        ids = sorted(vocabulary.values())
    except (ValueError, AttributeError, TypeError) as error:
        raise ModelError([f"{path.name} is no vocabulary: {WHERE}"]) from error
    if ids != list(range(len(ids))) or len(ids) + len(added_tokens()) > rows:
        raise ModelError([f"{path.name} has {len(ids)} entries and does not fit llm.pt: {WHERE}"])


def read_tensors(path: Path) -> dict[str, Tensor]:
    """A checkpoint's tensors, memory-mapped; nothing in the file can run code.

    Raises:
        ModelError: it is damaged, or holds something else than tensors by name.
    """
    try:
        loaded = torch.load(path, map_location="cpu", mmap=True, weights_only=True)
    except pickle.UnpicklingError as error:
        fault = "is damaged, or holds more than tensors, and was not opened"
        raise ModelError([f"{path.name} {fault}: {WHERE}"]) from error
    except (RuntimeError, EOFError, ValueError, KeyError) as error:
        raise ModelError([f"{path.name} is damaged: {WHERE}"]) from error
    except OSError as error:
        raise ModelError([f"{path.name} cannot be read: {error.strerror}"]) from error
    if not isinstance(loaded, dict) or not all(isinstance(value, Tensor) for value in loaded.values()):
        raise ModelError([f"{path.name} holds something else than tensors by name: {WHERE}"])
    return loaded


def _human(size_bytes: int) -> str:
    """As download pages write sizes: 2.0 GB."""
    size = float(size_bytes)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
