"""The page judges a recording while one speaks; its bounds are those of the checks that count."""

import json
from pathlib import Path
from typing import cast

import pytest

from cosyvoice.voices import checks
from cosyvoice.voices.cut import MAX_PROMPT_S, MIN_PROMPT_S

BOUNDS = Path(__file__).parents[2] / "web" / "src" / "voices" / "bounds.json"
BELOW_DB = 0.01


@pytest.fixture
def bounds() -> dict[str, float]:
    return cast(dict[str, float], json.loads(BOUNDS.read_text()))


def test_the_length_is_that_of_a_prompt(bounds: dict[str, float]) -> None:
    assert (bounds["min_prompt_s"], bounds["max_prompt_s"]) == (MIN_PROMPT_S, MAX_PROMPT_S)


def test_loudness_is_judged_alike(bounds: dict[str, float]) -> None:
    note_db, problem_db = bounds["level_note_db"], bounds["level_problem_db"]
    assert [checks.level(db).level for db in (note_db, note_db - BELOW_DB)] == ["ok", "note"]
    assert [checks.level(db).level for db in (problem_db, problem_db - BELOW_DB)] == ["note", "problem"]


def test_noise_is_judged_alike(bounds: dict[str, float]) -> None:
    note_db, problem_db = bounds["snr_note_db"], bounds["snr_problem_db"]
    assert [checks.noise(db).level for db in (note_db, note_db - BELOW_DB)] == ["ok", "note"]
    assert [checks.noise(db).level for db in (problem_db, problem_db - BELOW_DB)] == ["note", "problem"]


def test_clipping_is_judged_alike(bounds: dict[str, float]) -> None:
    note, problem = bounds["clipped_note"], bounds["clipped_problem"]
    assert [checks.clipping(part).level for part in (note * 0.99, note)] == ["ok", "note"]
    assert [checks.clipping(part).level for part in (problem * 0.99, problem)] == ["note", "problem"]
