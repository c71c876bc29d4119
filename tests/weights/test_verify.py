"""Verifying finds what changed, and names the file."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from cosyvoice.errors import ModelError
from cosyvoice.weights import building, manifest, verify
from cosyvoice.weights.manifest import StoredFile
from tests.weights.conftest import no_progress

Copy = Callable[[Path], Path]


@pytest.fixture
def folder(tiny_prepared: Path, copied: Copy) -> Path:
    return copied(tiny_prepared)


def problems(folder: Path) -> tuple[str, ...]:
    with pytest.raises(ModelError) as caught:
        verify.verify(folder, no_progress)
    return caught.value.problems


def replace(folder: Path, name: str, change: Callable[[dict[str, Tensor]], object]) -> None:
    """Writes other tensors, with a manifest that knows them: as a faulty program would have."""
    tensors = {key: tensor.clone() for key, tensor in load_file(folder / name).items()}
    change(tensors)
    save_file(tensors, folder / name)
    found = manifest.read(folder)
    stored = StoredFile((folder / name).stat().st_size, building.sha256(folder / name))
    changed = msgspec.structs.replace(found, files={**found.files, name: stored})
    (folder / manifest.FILE).write_bytes(manifest.encode(changed))


def test_a_whole_folder_is_well(tiny_prepared: Path) -> None:
    seen: list[str] = []
    found = verify.verify(tiny_prepared, lambda step, _done, _total: seen.append(step))
    assert seen == list(found.files)


def test_one_flipped_bit_is_found(folder: Path) -> None:
    path = folder / manifest.VOCODER
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert problems(folder) == (
        "vocoder.safetensors was changed or is damaged; run `cosyvoiced model prepare` again",
    )


def test_every_fault_has_its_sentence(folder: Path) -> None:
    (folder / manifest.LLM).unlink()
    (folder / manifest.VOCABULARY).write_text("{}")
    (folder / manifest.SPEAKER_ENCODER).write_bytes(bytes((folder / manifest.SPEAKER_ENCODER).stat().st_size))
    assert [problem.split(";")[0] for problem in problems(folder)] == [
        "llm.safetensors is missing",
        "tokenizer/vocab.json has 2 bytes instead of 2418",
        "campplus.onnx was changed or is damaged",
    ]


def test_tensors_are_held_against_the_layout(folder: Path) -> None:
    def spoil(tensors: dict[str, Tensor]) -> None:
        del tensors["tokens.weight"]
        tensors["foreign"] = torch.zeros(1)
        tensors["speaker.bias"] = torch.zeros(3)
        tensors["dit.out.bias"][0] = float("nan")

    replace(folder, manifest.FLOW, spoil)
    assert sorted(problem.split(";")[0] for problem in problems(folder)) == [
        "flow.safetensors: dit.out.bias holds what is no number",
        "flow.safetensors: foreign is unexpected",
        "flow.safetensors: speaker.bias is float32 (3,) instead of float32 (80,)",
        "flow.safetensors: tokens.weight is missing",
    ]


def test_what_is_no_safetensors_file_is_told(folder: Path) -> None:
    replace(folder, manifest.FLOW, lambda tensors: tensors)
    (folder / manifest.FLOW).write_bytes(b"\xff" * (folder / manifest.FLOW).stat().st_size)
    found = manifest.read(folder)
    stored = StoredFile((folder / manifest.FLOW).stat().st_size, building.sha256(folder / manifest.FLOW))
    (folder / manifest.FILE).write_bytes(
        manifest.encode(msgspec.structs.replace(found, files={**found.files, manifest.FLOW: stored}))
    )
    (problem,) = problems(folder)
    assert problem.startswith("flow.safetensors is damaged (")


def test_other_solver_times_ask_for_a_new_folder(folder: Path) -> None:
    found = manifest.read(folder)
    times = (*found.time_points[:-1], 0.123)
    (folder / manifest.FILE).write_bytes(manifest.encode(msgspec.structs.replace(found, time_points=times)))
    assert "made for other solver times" in problems(folder)[0]
