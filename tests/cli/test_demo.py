"""`toolfmt demo`: every format reads its recorded answer, and a wrong one is noticed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import sampling
from toolfmt.cli import demo as replay
from toolfmt.lookup.registry import default_registry
from toolfmt.model import ToolInvocation

Run = Callable[..., tuple[int, str, str]]
NAMES = default_registry().names()
ANSWERS = Path(replay.__file__).parent / "recordings" / "answers"


def accepted(value: Any, choices: list[Any]) -> bool:
    """Whether the data set accepts a value: one of its choices, objects with choices for each key."""
    return any(
        value.keys() == choice.keys() and all(accepted(value[key], choice[key]) for key in choice)
        if isinstance(value, dict) and isinstance(choice, dict)
        else len(value) == len(choice) and all(accepted(one, [other]) for one, other in zip(value, choice, strict=True))
        if isinstance(value, list) and isinstance(choice, list)
        else type(value) is type(choice) and value == choice
        for choice in choices
    )


def test_every_format_passes(run: Run) -> None:
    code, out, err = run("demo")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split(":")[0].split() == ["toolfmt", "demo", str(len(NAMES)), "formats"]
    assert [line.split()[1] for line in lines if line.startswith("✓")] == list(NAMES)
    assert f"{len(NAMES)} of {len(NAMES)} as expected" in lines[-2]
    assert "toolfmt demo " in lines[-1]
    assert len(lines) < len(NAMES) + 20
    assert max(map(len, (line for line in lines if line.startswith("✓")))) < 100
    assert "✗" not in out
    assert "\x1b" not in out


def test_it_says_what_is_recorded_and_what_is_not(run: Run) -> None:
    out = run("demo", "react")[1]
    for fact in ("simple_python_96", "live_multiple_63-25-0", "bfcl-eval", "Apache-2.0", "no model was run"):
        assert fact in out


def test_every_recorded_answer_belongs_to_a_dialect_and_is_read(run: Run) -> None:
    files = {path.name.split(".")[0] for path in ANSWERS.iterdir()}
    found = json.loads(run("demo", "--json")[1])
    assert found["ok"] is True
    assert [one["dialect"] for one in found["formats"]] == list(NAMES)
    assert {one["dialect"] for one in found["formats"] if one["written_by_hand"]} == files
    for one in found["formats"]:
        assert all(message["answer"] and message["streamed"]["calls_at"] for message in one["messages"])


def test_one_format_is_shown_with_its_whole_manifest(run: Run) -> None:
    out = run("demo", "xml-items")[1]
    dialect = default_registry().dialect("xml-items")
    assert out.count("✓") == 1
    assert "certain at character" in out
    for line in replay.replay(dialect, replay.load()).manifest.splitlines():
        assert line.strip() in out
    for other in ("anthropic", "claude-opus-4"):
        code, same, note = run("demo", other)
        assert (code, same) == (0, out)
        assert note.endswith("its format is xml-items\n")


def test_the_expected_calls_are_accepted_by_the_data_set() -> None:
    recording = replay.load()
    truths = [truth for entry in recording.data["entries"] for truth in entry["ground_truth"]]
    assert len(recording.calls) == len(truths)
    for call, truth in zip(recording.calls, truths, strict=True):
        assert call.arguments.keys() == truth[call.name].keys()
        assert all(accepted(value, truth[call.name][key]) for key, value in call.arguments.items())


def test_a_difference_is_reported(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    other = [ToolInvocation(name="database.query", arguments={"table": "other"})]
    monkeypatch.setattr(replay.Recording, "calls", property(lambda _: other))
    for arguments in (("demo", "xml-items"), ("demo",)):
        code, out, _ = run(*arguments)
        assert code == 1
        assert "✗ xml-items" in out
        assert "NOT the 1 expected" in out
        assert "wrong: " in out
    assert json.loads(run("demo", "xml-items", "--json")[1])["ok"] is False


@pytest.mark.parametrize("dialect", sampling.names())
def test_a_dialect_without_an_answer_writes_one(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "_answers", lambda _: [])
    one = replay.replay(default_registry().dialect(dialect), replay.load())
    assert not one.by_hand
    assert one.agree
    assert one.equal
