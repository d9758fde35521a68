"""`toolfmt chat`: a scripted agent is played with real calls, and what happens is shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from toolfmt.agents import AgentState

Run = Callable[..., tuple[int, str, str]]


def test_the_sample_runs_without_anything(run: Run) -> None:
    code, out, err = run("chat")
    assert (code, err) == (0, "")
    lines = [line.strip() for line in out.splitlines()]
    assert lines[0].startswith("user")
    assert lines[-1].startswith("completed")
    assert "3 steps, 4 calls, 1 of them failed, 983 tokens in and 131 out" in lines[-1]
    for shown in ("step 1", "thought", "said", "call", "error", "result"):
        assert any(line.startswith(shown) for line in lines), shown
    assert "\x1b" not in out


def test_events_are_lines_of_json_and_the_last_has_the_state(run: Run) -> None:
    code, out, _ = run("chat", "--json")
    events = [json.loads(line) for line in out.splitlines()]
    kinds = [event["event"] for event in events]
    assert (code, kinds[0], kinds[-1]) == (0, "run_started", "run_completed")
    assert kinds.count("tool_call_started") == kinds.count("tool_call_completed") == 4
    assert {"step_started", "inference_request_started", "answer_received", "step_completed"} <= set(kinds)
    assert all("at" in event for event in events)
    state = AgentState.from_json(events[-1]["state"])
    assert (state.status, len(state.executions), state.agent) == ("completed", 4, "guide")


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.json"
    steps = [{"call": {"name": "double", "arguments": {"n": 4}}}, {"final": "8."}, {"error": "The model is gone."}]
    path.write_text(json.dumps({"steps": steps}), encoding="utf-8")
    return path


TOOLS = """
from toolfmt import ToolRegistry

registry = ToolRegistry()
number = 3


@registry.register
def double(n: int) -> int:
    print("a word of the tool's")
    return 2 * n


class inner:
    registry = registry
"""


def test_a_script_calls_tools_of_a_module(
    run: Run, script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "chat_tools.py").write_text(TOOLS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    code, out, _ = run("chat", "Double 4.", "--script", script, "--tools", "chat_tools:inner.registry")
    assert code == 0
    assert "double: 8" in out
    code, out, err = run("chat", "Double 4.", "--script", script, "--tools", "chat_tools:registry", "--json")
    assert code == 0
    assert "run_completed" in [json.loads(line)["event"] for line in out.splitlines()]
    assert err == "a word of the tool's\n"
    code, out, _ = run("chat", "Double 4.", "Once more.", "--script", script, "--tools", "chat_tools:registry")
    assert code == 1
    assert "The model is gone." in out


def test_what_cannot_be_played_is_said(run: Run, script: Path, tmp_path: Path) -> None:
    assert "asks nothing" in run("chat", "--script", script)[2]
    assert "brings its own tools" in run("chat", "--tools", "json:loads")[2]
    (tmp_path / "bad.json").write_text('{"steps": [{}]}', encoding="utf-8")
    code, out, err = run("chat", "--script", tmp_path / "bad.json")
    assert (code, out) == (2, "")
    assert "bad.json: /steps/0" in err
    assert run("chat", "--script", tmp_path / "none.json")[0] == 2
    for steps in ("0", "-1"):
        assert run("chat", "--max-steps", steps) == (2, "", f"toolfmt: --max-steps is 1 or more, not {steps}\n")


def test_a_run_that_goes_on_for_too_long_is_stopped(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    path.write_text('{"ask": "?", "steps": [{"tool": "still at it"}]}', encoding="utf-8")
    code, out, _ = run("chat", "--script", path, "--max-steps", "3")
    assert code == 1
    assert "stopped" in out
    assert out.count("still at it") == 3
