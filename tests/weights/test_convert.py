"""A prepared folder holds the published model, to the rounding of its int8 weights."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from cosyvoice import quality
from cosyvoice.config import TINY
from cosyvoice.errors import ModelError
from cosyvoice.flow.denoise import unconditional_start
from cosyvoice.flow.flow import Flow
from cosyvoice.flow.modulation import ComputedModulations
from cosyvoice.int8.quantize import dequantize_rows
from cosyvoice.llm.weights import TEXT_EMBEDDING
from cosyvoice.weights import convert, manifest, prepared
from cosyvoice.weights.layout import MODULATIONS, START, TABLE
from cosyvoice.weights.networks import FLOW, LLM, NETWORKS, VOCODER, Network
from cosyvoice.weights.published import open_folder
from cosyvoice.weights.rules import apply
from tests.weights.conftest import no_progress, prepare

Copy = Callable[[Path], Path]
FILES = {LLM: manifest.LLM, FLOW: manifest.FLOW, VOCODER: manifest.VOCODER}


def expected(network: Network, folder: Path) -> dict[str, Tensor]:
    tensors = open_folder(folder, enrolment=True).tensors(network)
    return {rule.target: apply(rule, tensors) for rule in network.rules(TINY)}


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.name)
def test_each_tensor_is_that_of_the_published_model(
    network: Network, tiny_published: Path, tiny_prepared: Path
) -> None:
    stored = prepared.load(tiny_prepared).tensors(FILES[network])
    apart = (TEXT_EMBEDDING, MODULATIONS)
    wanted = {n: t for n, t in expected(network, tiny_published).items() if not n.startswith(apart)}
    assert {
        name for name in stored if not name.endswith(".scale") and name not in (TABLE, START)
    } == wanted.keys()
    for name, tensor in wanted.items():
        if network.is_int8(name):
            scale = stored[name.removesuffix(".weight") + ".scale"]
            assert stored[name].dtype == torch.int8
            error = (dequantize_rows(stored[name], scale) - tensor).abs()
            assert (error <= 0.5001 * scale[:, None]).all(), name
        else:
            assert torch.equal(stored[name], tensor), name


def test_the_text_embedding_is_rows_and_scales(tiny_published: Path, tiny_prepared: Path) -> None:
    rows, scale = prepared.load(tiny_prepared).text_embedding()
    wanted = expected(LLM, tiny_published)[TEXT_EMBEDDING]
    assert (rows.dtype, rows.shape, scale.shape) == (torch.int8, (512, 64), (512,))
    assert (dequantize_rows(rows, scale) - wanted).abs().max() <= 0.5001 * scale.max()


def test_the_constants_are_those_of_the_published_flow(tiny_published: Path, tiny_prepared: Path) -> None:
    model = prepared.load(tiny_prepared)
    stored = model.tensors(manifest.FLOW)
    assert model.manifest.time_points == quality.all_times()
    computed = ComputedModulations(TINY.flow)
    flow = Flow(TINY.flow, computed)
    flow.load_state_dict(expected(FLOW, tiny_published))
    with torch.inference_mode():
        for row, time in zip(stored[TABLE], model.manifest.time_points, strict=True):
            assert torch.allclose(row, computed.at(time), atol=1e-6)
        assert torch.allclose(stored[START], unconditional_start(flow), atol=1e-5)


def test_the_manifest_tells_where_it_came_from(tiny_published: Path, tiny_prepared: Path) -> None:
    found = manifest.read(tiny_prepared)
    assert (found.model, found.config, found.version) == ("random weights, seed 0", TINY, "1.2.3")
    assert found.sources["llm.pt"] == (tiny_published / "llm.pt").stat().st_size
    inside = {str(path.relative_to(tiny_prepared)) for path in tiny_prepared.rglob("*") if path.is_file()}
    assert inside == {*found.files, manifest.FILE}
    assert found.can_enrol


def test_preparing_again_gives_the_same_sound(
    tiny_published: Path, tiny_prepared: Path, tmp_path: Path
) -> None:
    prepare(tiny_published, tmp_path / "again")
    assert manifest.read(tmp_path / "again").fingerprint == manifest.read(tiny_prepared).fingerprint


def test_a_folder_that_only_speaks(
    tiny_published: Path, tiny_prepared: Path, copied: Copy, tmp_path: Path
) -> None:
    source = copied(tiny_published)
    for name in manifest.ENROLMENT:
        (source / name).unlink()
    target = tmp_path / "target"
    convert.prepare(source, target, enrolment=False, version="1.2.3", progress=no_progress)
    found = manifest.read(target)
    assert not found.can_enrol
    assert found.fingerprint == manifest.read(tiny_prepared).fingerprint
    prepared.load(target)


def test_progress_ends_with_all_of_it(tiny_published: Path, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    convert.prepare(
        tiny_published,
        tmp_path / "target",
        enrolment=True,
        version="1.2.3",
        progress=lambda *step: seen.append(step),
    )
    done = [done for _, done, _ in seen]
    assert done == sorted(done)
    assert done[-1] == seen[-1][2]
    assert {total for *_, total in seen} == {done[-1]}
    assert [manifest.LLM in step for step, *_ in seen].count(True) > 10


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.0])
def test_a_hole_in_the_download_is_found(
    value: float, tiny_published: Path, copied: Copy, tmp_path: Path
) -> None:
    source = copied(tiny_published)
    tensors = torch.load(source / "flow.pt", weights_only=True)
    tensors["pre_lookahead_layer.conv1.weight"].fill_(value)
    torch.save(tensors, source / "flow.pt")
    with pytest.raises(ModelError, match=r"flow\.pt is damaged, pre_lookahead_layer\.conv1\.weight"):
        prepare(source, tmp_path / "target")
    assert [path.name for path in tmp_path.iterdir()] == [source.name]


def test_bfloat16_checkpoints_are_taken(tiny_published: Path, copied: Copy, tmp_path: Path) -> None:
    source = copied(tiny_published)
    tensors = torch.load(source / "llm.pt", weights_only=True)
    torch.save({name: tensor.bfloat16() for name, tensor in tensors.items()}, source / "llm.pt")
    prepare(source, tmp_path / "target")
    norm = prepared.load(tmp_path / "target").tensors(manifest.LLM)["body.norm.weight"]
    assert torch.equal(norm, tensors["llm.model.model.norm.weight"].bfloat16().float())


GROWTH = """
import json, sys
from pathlib import Path
import torch
from cosyvoice.config import LlmConfig, ModelConfig, TINY
from cosyvoice.weights import convert, networks, random_model, windows

def peak_bytes():
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])

def prepare(size):
    source = Path(sys.argv[1]) / size
    random_model.write(source, size, seed=0)
    before = peak_bytes()
    convert.prepare(
        source, source.with_name(size + "-int8"), enrolment=True, version="1", progress=lambda *_: None
    )
    return peak_bytes() - before, (source / "llm.pt").stat().st_size

torch.set_num_threads(1)
windows.WINDOW_BYTES = 8 * 2**20
llm = LlmConfig(hidden=256, intermediate=2048, layers=16, heads=4, kv_heads=2, vocab=512)
networks.SIZES["wide"] = ModelConfig(llm, TINY.flow, TINY.vocoder)
prepare("tiny")  # whatever is loaded or allocated once
print(json.dumps(prepare("wide")))
"""


def test_memory_does_not_grow_with_the_checkpoint(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", GROWTH, str(tmp_path)], capture_output=True, text=True, timeout=50, check=False
    )
    assert done.returncode == 0, done.stderr
    growth_bytes, checkpoint_bytes = json.loads(done.stdout)
    assert checkpoint_bytes > 120 * 2**20
    assert growth_bytes < 40 * 2**20
