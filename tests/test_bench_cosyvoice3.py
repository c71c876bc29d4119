"""The benchmark of CosyVoice3 runs from end to end, here with tiny weights."""

import json
from pathlib import Path

import pytest

from cosyvoice.quality import QUALITIES
from daemon.commands import bench_cosyvoice3


@pytest.mark.system
def test_it_measures_every_stage(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(bench_cosyvoice3, "SIZE", "tiny")
    assert bench_cosyvoice3.bench(None, threads=1, runs=1, as_json=True, plot=None) == 0
    report = json.loads(capsys.readouterr().out)
    values = {measure["what"]: measure["value"] for measure in report["measures"]}
    assert report["weights"] == "random"
    for preset in ("exact", "balanced", "fast"):
        assert values[f"RTF, {preset}"] > 0
    stages = [values[f"  of which {stage}"] for stage in bench_cosyvoice3.STAGES]
    assert min(stages) > 0
    assert values["mel cosine of int8 to float32, exact"] > 0.999
    assert values["worker start to READY, warm disk"] > 0


def test_the_stages_are_drawn(tmp_path: Path) -> None:
    stages = dict.fromkeys(bench_cosyvoice3.STAGES, 0.5)
    measured = dict.fromkeys(("as_published", *QUALITIES), stages)
    bench_cosyvoice3._draw(measured, tmp_path / "shares.png")
    assert (tmp_path / "shares.png").read_bytes().startswith(b"\x89PNG")
