"""Reads every byte of a prepared folder, and says what is not as it was made."""

from collections.abc import Iterator
from pathlib import Path

import torch

from cosyvoice.errors import ModelError
from cosyvoice.weights import building, manifest, prepared
from cosyvoice.weights.convert import Progress
from cosyvoice.weights.layout import Stored, TensorFile, tensor_files
from cosyvoice.weights.manifest import PREPARE, Manifest
from cosyvoice.weights.prepared import PreparedModel


def verify(folder: Path, progress: Progress) -> Manifest:
    """Holds checksums, names, shapes and values against what they must be.

    Raises:
        ModelError: one sentence for each fault.
    """
    found = manifest.read(folder)
    damaged = manifest.misplaced(folder, found)
    done = 0
    total = sum(file.bytes for file in found.files.values())
    for name, file in found.files.items():
        done += file.bytes
        if name not in damaged and building.sha256(folder / name) != file.sha256:
            damaged[name] = f"{name} was changed or is damaged; {PREPARE}"
        progress(name, done, total)
    problems = [*damaged.values(), *prepared.outdated(found)]
    model = PreparedModel(folder, found, None)
    for tensor_file in tensor_files(found.config, len(found.time_points)):
        if tensor_file.name not in damaged:
            problems += _tensor_problems(model, tensor_file)
    if problems:
        raise ModelError(problems)
    return found


def _tensor_problems(model: PreparedModel, file: TensorFile) -> Iterator[str]:
    expected = file.stored(model.manifest.config)
    try:
        tensors = model.tensors(file.name)
    except ModelError as error:
        yield from error.problems
        return
    for name in expected.keys() - tensors.keys():
        yield f"{file.name}: {name} is missing; {PREPARE}"
    for name in tensors.keys() - expected.keys():
        yield f"{file.name}: {name} is unexpected; {PREPARE}"
    for name in expected.keys() & tensors.keys():
        found = Stored(tensors[name].dtype, tuple(tensors[name].shape))
        if found != expected[name]:
            yield f"{file.name}: {name} is {found} instead of {expected[name]}; {PREPARE}"
        elif tensors[name].dtype == torch.float32 and not tensors[name].isfinite().all():
            yield f"{file.name}: {name} holds what is no number; {PREPARE}"
