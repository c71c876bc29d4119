"""A random checkpoint is like the published one in everything but what it says."""

import filecmp
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch

from cosyvoice.config import FULL, TINY
from cosyvoice.errors import ModelError
from cosyvoice.text import tokenizer
from cosyvoice.weights import random_checkpoint, random_model, random_tokenizer

OPTIONS = onnxruntime.SessionOptions()
OPTIONS.intra_op_num_threads = 1


def session(path: Path) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(path, OPTIONS)


def test_the_same_seed_gives_the_same_files(tiny_published: Path, tmp_path: Path) -> None:
    random_model.write(tmp_path / "same", "tiny", seed=0)
    random_model.write(tmp_path / "other", "tiny", seed=1)
    names = [str(path.relative_to(tiny_published)) for path in tiny_published.rglob("*") if path.is_file()]
    assert filecmp.cmpfiles(tiny_published, tmp_path / "same", names, shallow=False)[0] == names
    differing = filecmp.cmpfiles(tiny_published, tmp_path / "other", names, shallow=False)[1]
    assert {name for name in differing if "BlankEN" not in name} == {n for n in names if "BlankEN" not in n}


def test_a_full_one_takes_as_much_disk_as_the_published_one() -> None:
    assert random_checkpoint.total_bytes(FULL) == pytest.approx(2.02e9 + 1.33e9 + 83e6, rel=0.01)


def test_the_two_names_of_one_tensor_share_their_memory(tiny_published: Path) -> None:
    tensors = torch.load(tiny_published / "llm.pt", weights_only=True)
    head, table = tensors["llm.model.lm_head.weight"], tensors["llm.model.model.embed_tokens.weight"]
    assert head.data_ptr() == table.data_ptr()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "photo").touch()
    with pytest.raises(ModelError, match="is not empty"):
        random_model.write(tmp_path, "tiny", seed=0)


def test_the_speaker_encoder_has_the_real_inputs_and_outputs(tiny_published: Path) -> None:
    encoder = session(tiny_published / "campplus.onnx")
    (feats,) = encoder.get_inputs()
    random = np.random.default_rng(0)
    voices = [random.standard_normal((1, frames, 80)).astype(np.float32) for frames in (298, 412)]
    first, second = (encoder.run(None, {feats.name: voice})[0] for voice in voices)
    assert first.shape == second.shape == (1, 192)
    assert np.isfinite(first).all()
    assert not np.allclose(first, second)


@pytest.mark.parametrize("frames", [4, 300, 411])
def test_the_speech_tokenizer_has_the_real_inputs_and_outputs(frames: int, tiny_published: Path) -> None:
    tokens_of = session(tiny_published / "speech_tokenizer_v3.onnx")
    feats, length = tokens_of.get_inputs()
    assert (feats.type, length.type) == ("tensor(float)", "tensor(int32)")
    log_mel = np.random.default_rng(0).standard_normal((1, 128, 500)).astype(np.float32)
    given = {feats.name: log_mel, length.name: np.array([frames], np.int32)}
    (ids,) = tokens_of.run(None, given)
    assert ids.shape == (1, frames // 4)
    assert ids.min() >= 0
    assert ids.max() <= 6560
    assert frames < 300 or len(set(ids[0].tolist())) > 20


@pytest.mark.parametrize("config", [TINY, FULL], ids=["tiny", "full"])
def test_the_tokenizer_takes_any_text_and_fits_the_embedding(config: object, tmp_path: Path) -> None:
    llm = TINY.llm if config is TINY else FULL.llm
    random_tokenizer.write(tmp_path, llm)
    loaded = tokenizer.load(tmp_path)
    assert loaded.size == (512 if config is TINY else 151924)
    text = "The dog ate 12 eels, 你好 世界！ Ünïcödé 𝄞🎉 [laughter]~"
    ids = loaded.encode_text(text)
    assert max(ids) < llm.vocab
    assert loaded.encode_prompt("Hi.")[-1] == loaded.encode_prompt("")[0]
    assert len(ids) > 40
