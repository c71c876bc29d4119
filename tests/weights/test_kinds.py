"""A file or a folder that is not the wanted one is called by its name."""

from pathlib import Path

import pytest
import torch

from cosyvoice.weights import kinds

LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 2024669519\n"


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("llm.pt", b"", "is empty"),
        ("llm.pt", LFS.encode(), "is a Git LFS pointer"),
        ("flow.pt", b"\n<!DOCTYPE html><html>", "is a web page"),
        ("campplus.onnx", b"<html><body>404", "is a web page"),
        ("llm.pt", b"GGUF\x03\x00\x00\x00", "is a GGUF file"),
        ("llm.pt", b"\x10\x00\x00\x00\x00\x00\x00\x00{}      ", "is a safetensors file"),
        ("hift.pt", b"\x80\x02}q\x00.", "is no PyTorch checkpoint"),
        ("campplus.onnx", b"PK\x03\x04", "is no ONNX model"),
    ],
)
def test_what_was_downloaded_instead_is_named(name: str, content: bytes, fault: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert (kinds.file_fault(path) or "").startswith(fault)


def test_whole_files_have_no_fault(tiny_published: Path) -> None:
    files = [path for path in tiny_published.rglob("*") if path.is_file()]
    assert len(files) == 10
    assert {path.name: kinds.file_fault(path) for path in files} == dict.fromkeys(
        (path.name for path in files), None
    )


@pytest.mark.parametrize("name", ["flow.pt", "campplus.onnx", "speech_tokenizer_v3.onnx"])
@pytest.mark.parametrize("share", [0.3, 0.99])
def test_half_a_download_is_cut_off(name: str, share: float, tiny_published: Path, tmp_path: Path) -> None:
    whole = (tiny_published / name).read_bytes()
    path = tmp_path / name
    path.write_bytes(whole[: int(share * len(whole))])
    assert kinds.file_fault(path) == "is cut off, the download did not finish"


def test_an_onnx_file_that_ends_inside_a_length_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "campplus.onnx"
    path.write_bytes(b"\x08\x08\x3a\xff\xff")  # field 7, whose length goes on after the end
    assert kinds.file_fault(path) == "is cut off, the download did not finish"


def test_older_releases_are_told_by_their_files(tmp_path: Path) -> None:
    (tmp_path / "cosyvoice2.yaml").touch()
    assert kinds.folder_fault(tmp_path) == "CosyVoice 2"
    (tmp_path / "cosyvoice3.yaml").touch()  # someone keeps both in one folder
    assert kinds.folder_fault(tmp_path) is None


def test_networks_of_older_releases_are_told_by_their_tensors() -> None:
    for network, names, fault in (
        ("llm", {"llm_embedding.weight": (2, 896)}, "language model of CosyVoice 1 or 2"),
        ("llm", {"model.embed_tokens.weight": (151936, 896)}, "plain Qwen2"),
        ("flow", {"encoder.after_norm.weight": (512,)}, "flow model of CosyVoice 1 or 2"),
        ("vocoder", {"generator.conv_pre.weight_v": (512, 80, 7)}, "vocoder of CosyVoice 1 or 2"),
    ):
        assert fault in (kinds.network_fault(network, names) or ""), network


@pytest.mark.parametrize(("network", "file"), [("llm", "llm"), ("flow", "flow"), ("vocoder", "hift")])
def test_the_right_networks_have_no_fault(network: str, file: str, tiny_published: Path) -> None:
    tensors = torch.load(tiny_published / f"{file}.pt", weights_only=True)
    assert kinds.network_fault(network, {name: tuple(t.shape) for name, t in tensors.items()}) is None
