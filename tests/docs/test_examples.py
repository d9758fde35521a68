"""Each script of `examples/` runs, and prints what it is there to show."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHOWN = {
    "parse_a_stream": (
        '"text": "A value may hold </arg> and even </tool> and is not cut."}] complete, with title and text',
        '[call 1: read_note {"title": "Closing tags"}] complete, with title',
        "Done.",
    ),
    "custom_dialect": (
        "search(query, limit?) - Search the notes.",
        'written  <do>{"tool": "search", "with": {"query": "a </do> b", "limit": 3}}</do>',
        "thought  Notes first.",
        "call     search {'query': 'a </do> b', 'limit': 3}",
        "call     search {'query': 'c'}",
        "notice   repaired_json: single quotes",
        "the laws hold",
    ),
    "weather_agent": (
        "Your call could not be used (invalid_arguments): /days: ",
        '{"city": "Paris", "degrees": [21, 23]}',
        '{"city": "Oslo", "degrees": [12, 14]}',
        "It will be 21 and 23 degrees in Paris, 12 and 14 in Oslo.",
    ),
}


def test_every_script_is_tested() -> None:
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == SHOWN.keys()


@pytest.mark.parametrize("name", SHOWN)
def test_script_runs_and_shows_its_point(name: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "PYTHONWARNINGS": "error"}
    command = [sys.executable, f"examples/{name}.py"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    end = 0
    for text in SHOWN[name]:
        end = done.stdout.find(text, end)
        assert end >= 0, f"{text!r} is missing, or in another order, in:\n{done.stdout}"
