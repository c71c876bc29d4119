"""Prepares a published folder, once: int8 weights, a table of modulations, checksums.

Read `prepare` first. Checkpoints are read through `windows`, so that memory does not grow with them.
"""

import datetime
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch import Tensor

from cosyvoice import quality
from cosyvoice.errors import ModelError
from cosyvoice.weights import building, flow_constants, manifest, tensorfile, windows
from cosyvoice.weights.description import NAME, WHERE
from cosyvoice.weights.layout import Stored, TensorFile, tensor_files
from cosyvoice.weights.manifest import Manifest, StoredFile
from cosyvoice.weights.published import ENROLMENT, TOKENIZER_FOLDER, PublishedModel, open_folder
from cosyvoice.weights.rules import Rule

Progress = Callable[[str, int, int], None]  # the file being made, bytes written so far, bytes of all files


def prepare(source: Path, target: Path, *, enrolment: bool, version: str, progress: Progress) -> Manifest:
    """Makes `target`, whole or not at all; a prepared folder that is there already is replaced.

    `enrolment`: take along what is needed to add voices, some 1 GB (a hard link where the disk allows it).
    `version`: of the program, for the manifest.

    Raises:
        ModelError: the source is not what it should be, or the target cannot be written.
    """
    published = open_folder(source, enrolment)
    times = quality.all_times()
    files = tensor_files(published.config, len(times))
    layouts = {file.name: file.stored(published.config) for file in files}
    copies = _copies(published, enrolment)
    with building.atomic_folder(target) as folder:
        meter = _Meter(progress, _total_bytes(layouts, copies))
        building.check_disk(folder, meter.total_bytes)
        for file in files:
            tensors = meter.count(file.name, _tensors(published, file, times))
            tensorfile.write(folder / file.name, layouts[file.name], tensors)
        for name, path in copies.items():
            building.link_or_copy(path, folder / name)
            meter.add(name, path.stat().st_size)
        made = Manifest(
            format=manifest.FORMAT,
            model=_model_name(published),
            config=published.config,
            time_points=times,
            sources={path.name: path.stat().st_size for path in published.files.values()},
            files={name: _stored_file(folder / name) for name in (*layouts, *copies)},
            created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            version=version,
        )
        building.write_text(folder / manifest.FILE, manifest.encode(made))
    return made


def _copies(published: PublishedModel, enrolment: bool) -> dict[str, Path]:
    """Path in the prepared folder -> the published file that is taken over as it is."""
    copies = {
        manifest.VOCABULARY: published.files[f"{TOKENIZER_FOLDER}/vocab.json"],
        manifest.MERGES: published.files[f"{TOKENIZER_FOLDER}/merges.txt"],
    }
    if enrolment:
        copies |= {part.name: published.files[part.name] for part in ENROLMENT}
    return copies


def _total_bytes(layouts: dict[str, dict[str, Stored]], copies: dict[str, Path]) -> int:
    tensors = sum(stored.nbytes for layout in layouts.values() for stored in layout.values())
    return tensors + sum(path.stat().st_size for path in copies.values())


def _model_name(published: PublishedModel) -> str:
    seed = published.description.random_seed
    return NAME if seed is None else f"random weights, seed {seed}"


def _stored_file(path: Path) -> StoredFile:
    return StoredFile(bytes=path.stat().st_size, sha256=building.sha256(path))


def _tensors(
    published: PublishedModel, file: TensorFile, times: tuple[float, ...]
) -> Iterator[tuple[str, Tensor]]:
    """The tensors of one prepared file."""
    source = published.files[file.network.published_file].name
    for rules in windows.split(published, file.network, file.rules):
        for rule, made in windows.convert(published, file.network, rules):
            _check_values(source, rule, made)
            yield from file.store(rule.target, made)
    if file.constants:
        yield from flow_constants.compute(published, times)


def _check_values(source: str, rule: Rule, made: Tensor) -> None:
    """A download with a hole in it has all its tensors, and zeros or noise in place of their values."""
    lowest, highest = (value.item() for value in torch.aminmax(made))  # NaN if there is one
    if not (math.isfinite(lowest) and math.isfinite(highest)):
        raise ModelError([f"{source} is damaged, {rule.sources[0]} holds what is no number: {WHERE}"])
    if lowest == highest == 0 and made.dim() > 1:
        raise ModelError([f"{source} is damaged, {rule.sources[0]} is all zeros: {WHERE}"])


class _Meter:
    """Counts the bytes written, and tells."""

    def __init__(self, progress: Progress, total_bytes: int) -> None:
        self.total_bytes = total_bytes
        self._progress = progress
        self._done_bytes = 0

    def add(self, name: str, size_bytes: int) -> None:
        self._done_bytes += size_bytes
        self._progress(name, self._done_bytes, self.total_bytes)

    def count(self, name: str, tensors: Iterator[tuple[str, Tensor]]) -> Iterator[tuple[str, Tensor]]:
        """The same tensors, each counted once the next one is asked for."""
        for tensor_name, tensor in tensors:
            yield tensor_name, tensor
            self.add(name, tensor.nbytes)
