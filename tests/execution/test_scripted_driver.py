"""Scripts: steps in turn, the cursor in the state, files of them, and what is wrong in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.execution.models import toolbox
from toolfmt import ParseError, ToolRegistry
from toolfmt.agents import AgentLoop, AgentState, ScriptedDriver, as_tool, scripted
from toolfmt.agents.drivers import call, calls, error, final, tool


def run(driver: ScriptedDriver, tools: Any = None, **options: Any) -> AgentState:
    return AgentLoop(driver, toolbox() if tools is None else tools, **options).run_sync("?")


def test_steps_are_taken_in_turn() -> None:
    state = run(ScriptedDriver([tool("hm"), call("add", {"a": 1}, text="Let me.", reasoning="Add."), final("3")]))
    assert [step.text for step in state.steps] == ["hm", "Let me.", "3"]
    assert [one.result.content for one in state.executions] == [3]
    assert [message.role for message in state.messages] == ["user", "assistant", "assistant", "tool", "assistant"]
    assert state.metadata["scripted.cursor"] == 3


def test_the_last_step_comes_again_and_the_cursor_is_the_states() -> None:
    driver = ScriptedDriver([final("one"), final("two")])
    loop = AgentLoop(driver)
    state = loop.run_sync("?")
    texts = [state.text]
    for _ in range(3):
        state = AgentLoop(driver).run_sync("?", state=AgentState.from_json(state.to_json()))
        texts.append(state.text)
    assert texts == ["one", "two", "two", "two"]
    assert loop.run_sync("?").text == "one"


def test_an_error_fails_and_calls_need_not_be_run() -> None:
    assert (run(ScriptedDriver([error("no model")])).status, run(ScriptedDriver([error("x")])).reason) == (
        "failed",
        "x",
    )
    state = run(ScriptedDriver([call("leave", run=False), final("ok")]))
    assert (state.status, state.executions, state.steps[0].calls[0].name) == ("completed", (), "leave")


def test_a_script_without_steps_gives_the_default_answer() -> None:
    assert run(ScriptedDriver(default="That's it.")).text == "That's it."
    assert run(ScriptedDriver()).status == "completed"


def test_sub_agents_have_scripts_of_their_own() -> None:
    driver = ScriptedDriver([call("ask", {"task": "x"}), final("ok")], children={"ask": [final("from the child")]})
    child = AgentLoop(driver.child("ask"), name="ask")
    state = run(driver, ToolRegistry([as_tool(child, "ask", "Ask a child.")]))
    assert state.executions[0].result.content == "from the child"
    assert run(driver.child("nobody")).status == "completed"


def test_what_is_no_step_is_refused() -> None:
    with pytest.raises(TypeError, match=r"steps\[0\]"):
        ScriptedDriver(["final"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="at least one"):
        calls()


SCRIPT: dict[str, Any] = {
    "name": "guide",
    "system": "Be brief.",
    "ask": "Rain?",
    "tools": [{"name": "sky", "result": {"rain": True}}, {"name": "sea", "error": "dry"}],
    "agents": {"ask": {"description": "Ask around.", "steps": [{"final": "They say yes."}]}},
    "steps": [
        {"calls": [{"name": "sky", "arguments": {}}, {"name": "sea"}], "text": "Let me."},
        {"call": {"name": "ask", "arguments": {"task": "rain"}}, "usage": {"input": 3}},
        {"final": "Yes."},
    ],
}
TOML = """
ask = ["Rain?"]
[[steps]]
final = "Yes."
"""


def test_a_script_is_read_from_a_file_in_three_notations(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(SCRIPT), encoding="utf-8")
    script = scripted(tmp_path / "a.json")
    assert (script.ask, script.system, script.name) == (("Rain?",), "Be brief.", "guide")
    state = run(script.driver, script.tools)
    assert [(one.name, one.error or one.result.content) for one in state.executions] == [
        ("sky", {"rain": True}),
        ("sea", "dry"),
        ("ask", "They say yes."),
    ]
    assert (state.text, state.usage.input) == ("Yes.", 3)
    (tmp_path / "a.toml").write_text(TOML, encoding="utf-8")
    (tmp_path / "a.yaml").write_text("ask: [Rain?]\nsteps:\n  - final: 'Yes.'\n", encoding="utf-8")
    for name in ("a.toml", "a.yaml"):
        script = scripted(tmp_path / name)
        assert (script.ask, run(script.driver).text) == (("Rain?",), "Yes.")


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (5, "/"),
        ({"stepps": []}, "/stepps"),
        ({}, "/steps"),
        ([{"text": "x"}], "/steps/0"),
        ([{"final": "x", "error": "y"}], "/steps/0"),
        ([{"final": 5}], "/steps/0/final"),
        ([{"final": "x", "mood": 1}], "/steps/0/mood"),
        ([{"call": {"name": 5}}], "/steps/0/call"),
        ([{"calls": []}], "/steps/0/calls"),
        ([{"call": {"name": "f"}, "run": "no"}], "/steps/0/run"),
        ([{"final": "x", "usage": {"input": "many"}}], "/steps/0/usage"),
        ({"steps": [], "ask": 5}, "/ask"),
        ({"steps": [], "agents": {"a": {"steps": [{}]}}}, "/agents/a/steps/0"),
        ({"steps": [], "tools": [{"name": "f"}, {"name": ""}]}, "/tools/1"),
        ({"steps": [], "tools": [{"name": "f", "parameters": []}]}, "/tools/0"),
        ({"steps": [], "tools": [{"name": "a"}], "agents": {"a": {"steps": []}}}, "/agents/a"),
        ({"steps": [], "agents": {"a": {"steps": [], "tools": [{"name": "f"}, {"name": "f"}]}}}, "/agents/a/tools/1"),
    ],
)
def test_what_is_wrong_in_a_file_is_reported_with_its_place(value: Any, place: str, tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(ParseError, match=f"script.json: {place}"):
        scripted(path)


@pytest.mark.parametrize(("name", "text"), [("a.json", "{"), ("a.toml", "= 1"), ("a.yaml", "{"), ("a.yaml", "1: 2")])
def test_a_file_that_cannot_be_read_is_named(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ParseError, match=name):
        scripted(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        scripted(tmp_path / "none.json")
