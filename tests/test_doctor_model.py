"""`cosyvoiced doctor` says what CosyVoice3 lacks, as loudly as the configuration asks for it."""

import importlib.util
import os
import shutil
from pathlib import Path

import pytest
import torch

from cosyvoice.weights import convert, kernel_choice, manifest, random_model
from cosyvoice.weights.kernel_choice import KernelChoice, machine
from daemon.commands import doctor_model
from daemon.commands.finding import Finding
from daemon.config import Config, CosyVoice3, State, Watch, Worker


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Not to be written to."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("models")
    random_model.write(folder / "published", "tiny", seed=0)
    convert.prepare(
        folder / "published", folder / "model", enrolment=True, version="1", progress=lambda *_: None
    )
    kernel_choice.write(folder / "model", KernelChoice(machine=machine(), threads=1, kernels={}))
    return folder / "model"


@pytest.fixture
def model(prepared: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    shutil.copytree(prepared, folder, copy_function=os.link)
    return folder


def findings(model: Path, engine: str = "auto", free_mib: int = 4000) -> dict[str, Finding]:
    """By the first words of what was found."""
    root = model.parent / "root"
    (root / "proc").mkdir(parents=True, exist_ok=True)
    (root / "proc" / "meminfo").write_text(f"MemAvailable: {free_mib * 1024} kB\n")
    config = Config(
        engine=engine,  # type: ignore[arg-type] # one of the three that the option takes
        cosyvoice3=CosyVoice3(model=str(model)),
        state=State(path=str(model.parent / "state")),
        watch=Watch(root=str(root)),
        worker=Worker(threads=1),
    )
    return {finding.what: finding for finding in doctor_model.examine(config)}


def told(found: dict[str, Finding], words: str) -> Finding:
    (finding,) = (finding for what, finding in found.items() if words in what)
    return finding


@pytest.mark.parametrize(
    ("engine", "level"), [("builtin", "note"), ("auto", "note"), ("cosyvoice3", "problem")]
)
def test_no_model_is_a_problem_only_where_it_is_asked_for(engine: str, level: str, tmp_path: Path) -> None:
    finding = told(findings(tmp_path / "none", engine), "has no prepared model")
    assert finding.level == level
    assert finding.do == "cosyvoiced model prepare DIR, see docs/model.md"


def test_a_whole_model_on_its_machine_lacks_only_a_voice(model: Path) -> None:
    found = findings(model)
    assert told(found, "cosyvoice3 speaks from").level == "ok"
    assert told(found, "has no voice yet").do is not None
    assert len(found) == 2


def test_missing_libraries_are_named(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name in ("torch", "tokenizers") else find(name)
    )
    finding = told(findings(model), "lacks torch, tokenizers")
    assert finding.do == ".venv/bin/pip install -e '.[cosyvoice3]'"


def test_adding_voices_needs_soundfile(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "soundfile" else find(name))
    assert told(findings(model), "soundfile").level == "note"


def test_kernels_of_another_machine_are_told(model: Path) -> None:
    kernel_choice.write(model, KernelChoice(machine="a board", threads=1, kernels={}))
    assert "cosyvoiced model tune" in (told(findings(model), "the kernels were not measured").do or "")


@pytest.mark.parametrize(("engine", "level"), [("auto", "note"), ("cosyvoice3", "problem")])
def test_little_memory_is_told(engine: str, level: str, model: Path) -> None:
    assert told(findings(model, engine, free_mib=900), "900 MiB are free").level == level
    assert not any("900 MiB" in what for what in findings(model, "builtin", free_mib=900))


def test_every_damaged_file_is_a_problem(model: Path) -> None:
    (model / manifest.LLM).unlink()
    (model / manifest.MERGES).unlink()
    found = findings(model)
    assert [finding.level for finding in found.values()] == ["problem", "problem"]


def test_a_damaged_manifest_is_a_problem(model: Path) -> None:
    (model / manifest.FILE).unlink()
    (model / manifest.FILE).write_text("{")
    assert told(findings(model), "manifest.json is damaged").level == "problem"


@pytest.mark.parametrize(("free_mib", "short"), [(1733, True), (1734, False)])
def test_the_memory_wanted_leaves_the_margin_below_which_it_would_rest(
    model: Path, free_mib: int, short: bool
) -> None:
    found = findings(model, free_mib=free_mib)
    assert any("cosyvoice3 wants 1734" in what for what in found) == short


def test_a_machine_that_is_too_small_is_told(model: Path) -> None:
    findings(model)
    root = model.parent / "root"
    (root / "proc" / "meminfo").write_text("MemTotal: 1000000 kB\nMemAvailable: 900000 kB\n")
    config = Config(cosyvoice3=CosyVoice3(model=str(model)), watch=Watch(root=str(root)))
    found = {finding.what: finding for finding in doctor_model.examine(config)}
    assert told(found, "this machine has 976 MiB of memory; cosyvoice3 wants 1734").level == "note"
