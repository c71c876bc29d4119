"""The READMEs say what is true: their commands, JSON, paths, options and numbers."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from daemon import command_line, styles
from daemon.audio import chime
from daemon.errors import Code
from daemon.mqtt.intake import Envelope, parse_say
from daemon.mqtt.messages import Event, Result
from daemon.synthesis import facts
from tests.jobs.samples import FakeClock
from tests.mqtt.test_intake import DEFAULTS

ROOT = Path(__file__).parents[1]
ENGLISH = (ROOT / "README.md").read_text(encoding="utf-8")
CHINESE = (ROOT / "README.zh.md").read_text(encoding="utf-8")
BOTH = pytest.mark.parametrize("text", [ENGLISH, CHINESE], ids=["en", "zh"])


def blocks(text: str, kind: str) -> list[str]:
    """The fenced blocks of one kind."""
    found: list[str] = []
    fence: str | None = None
    for line in text.splitlines():
        if line.startswith("```"):
            fence = line[3:] if fence is None else None
            found += [""] if fence == kind else []
        elif fence == kind:
            found[-1] += line + "\n"
    return found


def test_both_languages_have_the_same_shape() -> None:
    for kind in ("bash", "json"):
        assert blocks(ENGLISH, kind) == blocks(CHINESE, kind)
    for pattern in (r"^#+ ", r"^\|", r"^- "):
        counts = [len(re.findall(pattern, text, re.MULTILINE)) for text in (ENGLISH, CHINESE)]
        assert counts[0] == counts[1], pattern


@BOTH
def test_json_examples_are_requests_or_results(text: str) -> None:
    requests = 0
    for block in blocks(text, "json"):
        data: dict[str, Any] = json.loads(block)
        if "event" in data:
            assert set(data) <= set(Result.__struct_fields__)
        else:
            defaults = DEFAULTS._replace(voices=facts.builtin().voices, chimes=chime.names())
            parse_say(block.encode(), Envelope(topic="t"), defaults, FakeClock()())
            requests += 1
    assert requests >= 4


@BOTH
def test_commands_exist(text: str) -> None:
    lines = [line for block in blocks(text, "bash") for line in block.splitlines()]
    for line in lines:
        program, *arguments = shlex.split(line)
        if program == ".venv/bin/cosyvoiced":
            command_line.parser().parse_args(arguments)
        elif program != "mosquitto_pub":
            assert (ROOT / program).stat().st_mode & 0o100, program
    assert any("--once" in line for line in lines)


@BOTH
def test_paths_of_the_tree_exist(text: str) -> None:
    tree = next(block for block in blocks(text, "") if block.startswith("daemon/"))
    folder = ROOT
    names = 0
    for line in tree.splitlines():
        if not line.startswith(" "):
            folder = ROOT / line.split()[0]
            assert folder.exists(), folder
            continue
        head = line.split()[0]
        parent = folder / head if head.endswith("/") else folder
        assert parent.exists(), parent
        for name in re.findall(r"[a-z_0-9]+\.py", line):
            assert list(parent.rglob(name)) or (folder / name).exists(), name
            names += 1
    assert names > 25


@BOTH
def test_every_code_event_style_and_option_is_named(text: str) -> None:
    for word in (*Code, *Event, *chime.names(), "excited", "do_not_disturb"):
        assert re.search(rf"\b{word}\b", text), word
    assert set(styles.PRESETS) >= {"excited", "slow"}


@BOTH
def test_the_numbers_are_what_bench_printed(text: str) -> None:
    rows = [line for line in text.splitlines() if line.startswith("|")]
    for name in ("bench.json", "bench-cosyvoice3.json"):
        report = json.loads((ROOT / "docs" / name).read_text(encoding="utf-8"))
        assert report["machine"] in text
        for measure in report["measures"]:
            shown = f"{measure['value']:g} {measure['unit']}".strip()
            assert any(f"| {shown} |" in row for row in rows), measure["what"]


def test_internal_links_lead_somewhere() -> None:
    for text in (ENGLISH, CHINESE):
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            assert (ROOT / target).exists(), target
