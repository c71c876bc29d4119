"""A wrong or incomplete published folder is refused, with a sentence for each fault."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from cosyvoice.config import TINY
from cosyvoice.errors import ModelError
from cosyvoice.weights import published
from cosyvoice.weights.networks import LLM, VOCODER

Copy = Callable[[Path], Path]


def problems(folder: Path, *, enrolment: bool = True) -> tuple[str, ...]:
    with pytest.raises(ModelError) as caught:
        published.open_folder(folder, enrolment)
    return caught.value.problems


def change(path: Path, change_tensors: Callable[[dict[str, Tensor]], object]) -> None:
    tensors = torch.load(path, weights_only=True)
    change_tensors(tensors)
    torch.save(tensors, path)


def test_a_whole_folder_is_opened(tiny_published: Path) -> None:
    model = published.open_folder(tiny_published, enrolment=True)
    assert model.config == TINY
    assert model.description.random_seed == 0
    assert model.tensors(LLM)["llm_decoder.weight"].shape == (6761, 64)


def test_the_tuned_language_model_does_as_well(tiny_published: Path, copied: Copy) -> None:
    folder = copied(tiny_published)
    (folder / "llm.pt").rename(folder / "llm.rl.pt")
    model = published.open_folder(folder, enrolment=True)
    assert model.files["llm.pt"].name == "llm.rl.pt"


def test_no_folder_at_all(tmp_path: Path) -> None:
    assert "is no folder" in problems(tmp_path / "none")[0]


def test_each_missing_file_is_named_with_its_size_and_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "cosyvoice3.yaml").write_text("sample_rate: 24000\n")
    found = problems(tmp_path)
    assert len(found) == 7
    assert all("FunAudioLLM/Fun-CosyVoice3-0.5B-2512" in problem for problem in found)
    assert found[0].startswith("llm.pt is missing (2.0 GB): fetch it from")
    assert found[3].startswith("CosyVoice-BlankEN/vocab.json is missing")
    assert len(problems(tmp_path, enrolment=False)) == 5


def test_files_of_the_wrong_kind_are_named_with_both_sizes(tiny_published: Path, copied: Copy) -> None:
    folder = copied(tiny_published)
    (folder / "flow.pt").write_bytes((folder / "flow.pt").read_bytes()[:1_000_000])
    (folder / "campplus.onnx").write_text("<html>")
    assert [problem.split(": ")[0] for problem in problems(folder)] == [
        "flow.pt is cut off, the download did not finish (1 MB of 1.3 GB)",
        "campplus.onnx is a web page and not the file itself (6 bytes of 28 MB)",
    ]


def test_the_folder_around_the_model_hints_at_the_inner_one(tiny_published: Path) -> None:
    found = problems(tiny_published.parent)
    assert found[0] == f"the model seems to be in {tiny_published}: give that folder"


def test_a_prepared_folder_is_not_a_published_one(tiny_prepared: Path) -> None:
    assert "is prepared already" in problems(tiny_prepared)[0]


def test_an_older_release_is_called_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "cosyvoice2.yaml").touch()
    assert "is CosyVoice 2, and only CosyVoice 3 fits" in problems(tmp_path)[0]


def test_every_odd_tensor_is_named(tiny_published: Path, copied: Copy) -> None:
    folder = copied(tiny_published)

    def spoil(tensors: dict[str, Tensor]) -> None:
        del tensors["input_embedding.weight"]
        tensors["another.weight"] = torch.zeros(2)
        tensors["spk_embed_affine_layer.bias"] = torch.zeros(3)

    change(folder / "flow.pt", spoil)
    change(folder / "llm.pt", lambda tensors: tensors.pop("speech_embedding.weight"))
    assert problems(folder) == (
        "llm.pt: tensor speech_embedding.weight is missing",
        "flow.pt: tensor input_embedding.weight is missing",
        "flow.pt: tensor another.weight is unexpected",
        "flow.pt: tensor spk_embed_affine_layer.bias has the shape (3,) instead of (80,)",
    )


def test_a_vocoder_of_another_release_is_one_sentence(tiny_published: Path, copied: Copy) -> None:
    folder = copied(tiny_published)
    first = "conv_pre.parametrizations.weight.original1"
    change(folder / "hift.pt", lambda tensors: tensors.update({first: torch.zeros(64, 80, 7)}))
    (problem,) = problems(folder)
    assert problem.startswith("hift.pt is the vocoder of CosyVoice 1 or 2")


def test_older_names_of_the_vocoder_are_understood(tiny_published: Path, copied: Copy) -> None:
    folder = copied(tiny_published)

    def rename(tensors: dict[str, Tensor]) -> None:
        old = {
            "generator."
            + name.replace("parametrizations.weight.original0", "weight_g").replace(
                "parametrizations.weight.original1", "weight_v"
            ): tensor
            for name, tensor in tensors.items()
        }
        tensors.clear()
        tensors.update(old)

    change(folder / "hift.pt", rename)
    found = published.open_folder(folder, enrolment=True).tensors(VOCODER)
    assert found.keys() == VOCODER.published(TINY).keys()


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ([torch.zeros(1)], "holds something else than tensors by name"),
        ({"epoch": 3}, "holds something else than tensors by name"),
        ({"path": Path("/tmp")}, "is damaged, or holds more than tensors, and was not opened"),
    ],
)
def test_a_checkpoint_holds_tensors_and_nothing_that_runs(
    content: object, fault: str, tiny_published: Path, copied: Copy
) -> None:
    folder = copied(tiny_published)
    torch.save(content, folder / "hift.pt")
    (problem,) = problems(folder)
    assert problem.startswith(f"hift.pt {fault}")


def test_a_damaged_checkpoint_is_told(tiny_published: Path, copied: Copy) -> None:
    folder = copied(tiny_published)
    content = bytearray((folder / "hift.pt").read_bytes())
    content[:2000] = b"PK\x03\x04" + bytes(
        1996
    )  # the beginning is lost, the list of contents at the end is not
    (folder / "hift.pt").write_bytes(content)
    (problem,) = problems(folder)
    assert problem.startswith("hift.pt is damaged")


@pytest.mark.parametrize("content", ["[]", "{", json.dumps({"a": 0, "b": 2}), json.dumps({"a": "b"})])
def test_a_foreign_vocabulary_is_told(content: str, tiny_published: Path, copied: Copy) -> None:
    folder = copied(tiny_published)
    (folder / "CosyVoice-BlankEN" / "vocab.json").write_text(content)
    (problem,) = problems(folder)
    assert problem.startswith("vocab.json ")


def test_tags_of_the_description_construct_nothing(tiny_published: Path, copied: Copy) -> None:
    folder = copied(tiny_published)
    proof = folder / "proof"
    (folder / "cosyvoice3.yaml").write_text(
        "sample_rate: 24000\n"
        f"ran: !!python/object/apply:os.mkdir ['{proof}']\n"
        "llm: !new:cosyvoice.llm.llm.CosyVoice3LM\n  llm: !name:somewhere.something [1, !ref <sample_rate>]\n"
    )
    published.open_folder(folder, enrolment=True)
    assert not proof.exists()


@pytest.mark.parametrize(
    ("content", "fault"),
    [("a: [", "is damaged"), ("- 1", "is damaged"), ("sample_rate: 22050", "speaks at 22050 Hz")],
)
def test_a_foreign_description_is_told(content: str, fault: str, tiny_published: Path, copied: Copy) -> None:
    folder = copied(tiny_published)
    (folder / "cosyvoice3.yaml").write_text(content)
    assert fault in problems(folder)[0]
