"""A prepared folder, opened: its tensors stay in the files and are mapped into memory."""

from dataclasses import dataclass
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from cosyvoice import quality
from cosyvoice.errors import ModelError
from cosyvoice.llm.weights import TEXT_EMBEDDING
from cosyvoice.weights import kernel_choice, manifest
from cosyvoice.weights.kernel_choice import KernelChoice
from cosyvoice.weights.layout import scale_name
from cosyvoice.weights.manifest import Manifest
from cosyvoice.weights.tensorreader import TensorReader


@dataclass(frozen=True)
class PreparedModel:
    """The folder's papers; its tensors by file."""

    folder: Path
    manifest: Manifest
    kernels: KernelChoice | None  # None: not measured yet

    def tensors(self, file: str) -> dict[str, Tensor]:
        """The state dict in a file (`manifest.LLM`, `FLOW` or `VOCODER`), read as it is used.

        An int8 weight `a.b.weight` (N, K) has its `a.b.scale` (N,) float32 beside it. The memory is given
        back when the last of the tensors goes.

        Raises:
            ModelError: the file is damaged.
        """
        try:
            return load_file(self.folder / file)
        except (SafetensorError, OSError) as error:
            raise ModelError([f"{file} is damaged ({error}); {manifest.PREPARE}"]) from error

    def reader(self, file: str) -> TensorReader:
        """The same tensors, each read when it is asked for and not kept. Raises `ModelError`."""
        return TensorReader(self.folder / file)

    def text_embedding(self) -> tuple[Tensor, Tensor]:
        """Rows (vocab, hidden) int8, left on the disk; scales (vocab,) float32. Raises `ModelError`."""
        reader = self.reader(manifest.TEXT_EMBEDDING)
        return reader.mapped(TEXT_EMBEDDING), reader[scale_name(TEXT_EMBEDDING)]


def load(folder: Path) -> PreparedModel:
    """Reads the folder's papers and looks that its files are there, in their length; no more.

    A folder made for other quality presets is refused here, not in the middle of an announcement.

    Raises:
        ModelError: one sentence for each fault.
    """
    found = manifest.read(folder)
    if problems := [*manifest.misplaced(folder, found).values(), *outdated(found)]:
        raise ModelError(problems)
    return PreparedModel(folder, found, kernel_choice.read(folder))


def outdated(found: Manifest) -> list[str]:
    """A sentence if the flow's constants are not those that this version's quality presets use."""
    if set(quality.all_times()) <= set(found.time_points):
        return []
    return [f"{manifest.FLOW} was made for other solver times than this version's; {manifest.PREPARE}"]
