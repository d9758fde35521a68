"""`toolfmt run`: the calls of a recorded answer are run, and the results are printed as a model is told them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from toolfmt import jsontext
from toolfmt.execution import ToolExecution

Run = Callable[..., tuple[int, str, str]]
TOOLS = """
from toolfmt import ToolRegistry
from toolfmt.execution import Executor, Permissions

registry = ToolRegistry()
number = 3


@registry.register
def double(n: int) -> int:
    return 2 * n


@registry.register
def fail() -> None:
    raise ValueError("kaput")


guarded = Executor(registry, policies=[Permissions({"*": ["double"]})])
described = ToolRegistry([{"name": "double", "parameters": {"type": "object"}}])
"""
DOUBLE = '<tool_call>{"name": "double", "arguments": {"n": 4}}</tool_call>'
BROKEN = '<tool_call>{"name": "double", "arguments": {"n": }}</tool_call>'
FAIL = '<tool_call>{"name": "fail", "arguments": {}}</tool_call>'


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run_tools.py").write_text(TOOLS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "run_tools", raising=False)


def test_the_results_have_the_dialects_form(run: Run) -> None:
    code, out, err = run("run", "--tools", "run_tools:registry", "-d", "hermes", stdin=f"Sure. {DOUBLE}{DOUBLE}")
    assert (code, err) == (0, "")
    assert out == "<tool_response>\n8\n</tool_response>\n<tool_response>\n8\n</tool_response>"


def test_the_format_may_be_found_from_the_text(run: Run) -> None:
    call = "<tool_call>\n<function=double>\n<parameter=n>\n4\n</parameter>\n</function>\n</tool_call>"
    for text, result in (
        (DOUBLE, "<tool_response>\n8\n</tool_response>"),
        (call, "<tool_response>\n8\n</tool_response>\n"),
    ):
        assert run("run", "--tools", "run_tools:registry", "-d", "auto", stdin=text) == (0, result, "")
    code, out, err = run("run", "--tools", "run_tools:registry", "-d", "auto", stdin="Nothing to do.")
    assert (code, out, err) == (0, "", "toolfmt: no call found as auto\n")
    code, out, err = run("run", "--tools", "run_tools:registry", "-d", "react", stdin=DOUBLE)
    assert (code, out) == (0, "")
    assert err.startswith("toolfmt: no call found as react, but it looks like hermes")


def test_a_failure_and_a_broken_call_are_told_and_counted(run: Run) -> None:
    code, out, err = run("run", "--tools", "run_tools:registry", "-d", "hermes", stdin=FAIL + DOUBLE)
    assert (code, err) == (1, "")
    assert out.index("kaput") < out.index("\n8\n")
    code, out, err = run("run", "--tools", "run_tools:registry", "-d", "hermes", stdin=BROKEN + DOUBLE)
    assert code == 1
    assert "could not be used (malformed)" in err
    assert out.index("could not be used") < out.index("\n8\n")


def test_the_results_can_be_messages_of_a_format(run: Run) -> None:
    for to in ("openai-chat", "anthropic", "gemini", "openai-responses"):
        code, out, _ = run("run", "--tools", "run_tools:registry", "-d", "hermes", "--to", to, stdin=DOUBLE)
        (message,) = jsontext.loads(out)
        assert code == 0
        assert "8" in json.dumps(message)
        assert "double" not in json.dumps(message) or to == "gemini"


def test_an_apis_answer_is_run_too(run: Run) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "double", "arguments": '{"n": 4}'}}
    answer = {"choices": [{"message": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "tool_calls"}]}
    found = run("run", "--api", "--to", "openai-chat", "--tools", "run_tools:registry", stdin=json.dumps(answer))
    assert found[0] == 0
    assert jsontext.loads(found[1]) == [{"role": "tool", "tool_call_id": "c1", "content": "8"}]


def test_the_records_can_be_had(run: Run) -> None:
    code, out, _ = run("run", "--tools", "run_tools:guarded", "-d", "hermes", "--json", stdin=FAIL + DOUBLE)
    records = [ToolExecution.model_validate(record) for record in json.loads(out)]
    assert code == 1
    assert [(one.name, one.failure, one.blocked) for one in records] == [
        ("fail", "denied", True),
        ("double", None, False),
    ]


def test_an_answer_without_calls_is_noted(run: Run) -> None:
    assert run("run", "--tools", "run_tools:registry", "-d", "hermes", stdin="Hi") == (
        0,
        "",
        "toolfmt: no call found as hermes\n",
    )


@pytest.mark.parametrize(
    ("tools", "why"),
    [
        ("run_tools", "takes module:registry"),
        ("run_tools:", "takes module:registry"),
        ("run_tools:registri", "run_tools has no 'registri'; it has"),
        ("run_tools:registry.more.yet", "run_tools.registry has no 'more'"),
        ("run_tools:number", "holds no tools"),
        ("run_tools:described", "no tool that can be run"),
        ("run_toolz:registry", "there is no module 'run_toolz'"),
        ("run_tools.inner:registry", "there is no module"),
        ("none.json", "none.json: there is no such file"),
    ],
)
def test_tools_that_are_none_are_named(run: Run, tools: str, why: str) -> None:
    code, out, err = run("run", "--tools", tools, stdin=DOUBLE)
    assert (code, out) == (2, "")
    assert why in err


def test_a_module_whose_own_import_is_missing_says_which(run: Run, tmp_path: Path) -> None:
    (tmp_path / "run_broken.py").write_text("import nowhere_to_be_found\n", encoding="utf-8")
    assert "nowhere_to_be_found" in run("run", "--tools", "run_broken:registry", stdin=DOUBLE)[2]
