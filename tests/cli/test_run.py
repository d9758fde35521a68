"""`toolfmt run`: the calls of a recorded answer are run, and the results are printed as a model is told them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from toolfmt import jsontext
from toolfmt.execution import ToolExecution

Run = Callable[..., tuple[int, str, str]]
TOOLS = """
import subprocess
import sys
from pathlib import Path
from typing import Annotated

from toolfmt import ToolRegistry
from toolfmt.tools import Injected
from toolfmt.execution import Executor, Permissions

registry = ToolRegistry()
number = 3


@registry.register
def double(n: int) -> int:
    return 2 * n


@registry.register
def fail() -> None:
    raise ValueError("kaput")


@registry.register
def chatter() -> str:
    print("a word")
    sys.stdout.write("unflushed")
    subprocess.run([sys.executable, "-c", "print('a program')"], check=True)
    Path("ran").touch()
    return "done"


needy = ToolRegistry()


@needy.register
def note(text: str, storage: Annotated[dict, Injected]) -> str:
    return text


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
    assert out == "<tool_response>\n8\n</tool_response>\n<tool_response>\n8\n</tool_response>\n"


def test_the_format_may_be_found_from_the_text(run: Run) -> None:
    call = "<tool_call>\n<function=double>\n<parameter=n>\n4\n</parameter>\n</function>\n</tool_call>"
    spaced = DOUBLE.replace("<tool_call>", "<tool_call>\n").replace("</", "\n</")
    for text, result in (
        (spaced, "<tool_response>\n8\n</tool_response>\n"),
        (call, "<tool_response>\n8\n</tool_response>\n"),
    ):
        assert run("run", "--tools", "run_tools:registry", "-d", "auto", stdin=text) == (0, result, "")
    code, out, err = run("run", "--tools", "run_tools:registry", "-d", "auto", stdin="Nothing to do.")
    assert (code, out, err) == (0, "", "toolfmt: no call found\n")
    code, out, err = run("run", "--tools", "run_tools:registry", "-d", "react", stdin=DOUBLE)
    assert (code, out) == (0, "")
    assert err.startswith("toolfmt: no call found as react, but it looks like hermes or ")


def test_a_failure_and_a_broken_call_are_reported_and_counted(run: Run) -> None:
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


@pytest.mark.parametrize(("text", "what"), [("", "is empty"), (" \n\t\n", "has white space alone")])
@pytest.mark.parametrize("command", [("parse",), ("parse", "--stream"), ("run", "--tools", "run_tools:registry")])
def test_an_answer_of_nothing_is_noted(run: Run, command: tuple[str, ...], text: str, what: str) -> None:
    code, out, err = run(*command, stdin=text)
    assert (code, "call" in out) == (0, False)
    assert err == f"toolfmt: stdin {what}: the answer has no text and no call\n"


def test_an_answer_without_calls_is_noted(run: Run) -> None:
    assert run("run", "--tools", "run_tools:registry", "-d", "hermes", stdin="Hi") == (
        0,
        "",
        "toolfmt: no call found as hermes\n",
    )


@pytest.mark.parametrize(
    ("tools", "why"),
    [
        ("run_tools", "run_tools: there is no such file; --tools takes a JSON or YAML file"),
        ("run_tools:", "run_tools:: there is no such file; --tools takes a JSON or YAML file"),
        ("run_tools:registri", "run_tools has no 'registri'; it has"),
        ("run_tools:registry.more.yet", "run_tools.registry has no 'more'"),
        ("run_tools:number", "holds no tools"),
        ("run_tools:described", "no tool that can be run"),
        ("run_toolz:registry", "there is no module 'run_toolz'"),
        ("run_tools.inner:registry", "there is no module"),
        ("./run_tools:registry", "takes a module's name as `import` does"),
        ("run_tools:needy", "give it as inject={'storage': ...} to the Executor; --tools may name an Executor"),
        ("none.json", "none.json: No such file or directory"),
    ],
)
def test_tools_that_are_none_are_named(run: Run, tools: str, why: str) -> None:
    code, out, err = run("run", "--tools", tools, stdin=DOUBLE)
    assert (code, out) == (2, "")
    assert why in err


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("\ndef (", "run_broken.py:2: SyntaxError: invalid syntax"),
        ("\n\nraise KeyError('x')", "run_broken.py:3: KeyError: 'x'"),
        ("import sys; sys.exit()", "run_broken.py:1: SystemExit"),
        ("raise SyntaxError('mine')", "run_broken.py:1: SyntaxError: mine"),
        ("import json; json.loads('')", "JSONDecodeError"),
    ],
)
def test_a_module_that_cannot_be_imported_says_where(run: Run, tmp_path: Path, code: str, why: str) -> None:
    (tmp_path / "run_broken.py").write_text(code, encoding="utf-8")
    assert run("run", "--tools", "run_broken:registry", stdin=DOUBLE)[:2] == (2, "")
    assert why in run("run", "--tools", "run_broken:registry", stdin=DOUBLE)[2]


def test_what_tools_print_goes_to_stderr(tmp_path: Path) -> None:
    call = '<tool_call>{"name": "chatter", "arguments": {}}</tool_call>'
    command = [sys.executable, "-m", "toolfmt", "run", "--tools", "run_tools:registry", "-d", "hermes"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def said(*options: str) -> tuple[str, str]:
        done = subprocess.run(
            [*command, *options], cwd=tmp_path, env=env, input=call, capture_output=True, text=True, check=True
        )
        return done.stdout, done.stderr

    assert said()[0] == "<tool_response>\ndone\n</tool_response>\n"
    out, err = said("--json")
    assert json.loads(out)[0]["result"]["content"] == "done"
    assert {"a word", "unflushed", "a program"} <= {*err.replace("unflushed", "unflushed\n").splitlines()}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--to", "nope"), "unknown transcript format 'nope'"),
        (("--to", "codex"), "codex cannot hold"),
        (("--timeout", "0"), "--timeout is a number of seconds above 0"),
        (("--timeout", "-1"), "--timeout is a number of seconds above 0"),
        (("--timeout", "nan"), "--timeout is a number of seconds above 0"),
    ],
)
def test_options_that_cannot_be_are_refused_before_anything_runs(
    run: Run, tmp_path: Path, options: tuple[str, ...], why: str
) -> None:
    call = '<tool_call>{"name": "chatter", "arguments": {}}</tool_call>'
    code, out, err = run("run", "--tools", "run_tools:registry", "-d", "hermes", *options, stdin=call)
    assert (code, out, (tmp_path / "ran").exists()) == (2, "", False)
    assert why in err


def test_what_a_format_does_not_hold_is_reported(run: Run) -> None:
    code, _, err = run("run", "--tools", "run_tools:registry", "-d", "hermes", "--to", "xlam", stdin=DOUBLE)
    assert (code, err) == (0, "toolfmt: xlam does not say all of it: result dropped (double)\n")
    for to in ("openai-chat", "anthropic", "gemini"):
        assert run("run", "--tools", "run_tools:registry", "-d", "hermes", "--to", to, stdin=DOUBLE)[2] == ""
    code, out, _ = run("run", "--tools", "run_tools:registry", "-d", "hermes", "--to", "openai-chat", stdin=FAIL)
    assert (code, json.loads(out)[0]["content"]) == (1, "Error: kaput")


def test_calls_that_could_not_be_read_have_a_record_too(run: Run) -> None:
    nameless = "<tool_call>{oops}</tool_call>"
    code, out, _ = run("run", "--tools", "run_tools:registry", "-d", "hermes", "--json", stdin=BROKEN + DOUBLE)
    broken, ran = json.loads(out)
    assert (code, broken["call"], broken["failure"], broken["result"]["is_error"]) == (1, None, "malformed", True)
    assert broken["raw"] in BROKEN
    assert broken["error"].partition(", at offset")[0] in broken["result"]["content"]
    assert ToolExecution.model_validate(ran).value == 8
    for to in ("openai-chat", "gemini"):
        reported = run("run", "--tools", "run_tools:registry", "-d", "hermes", "--to", to, stdin=nameless)[1]
        assert "could not be used" in reported


def test_a_broken_call_of_an_api_is_reported_as_one(run: Run) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "double", "arguments": '{"n": '}}
    answer = json.dumps({"choices": [{"message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]})
    code, out, _ = run("run", "--api", "--tools", "run_tools:registry", stdin=answer)
    assert (code, "c1" in out, "looks like" in out) == (1, True, False)
    (message,) = json.loads(
        run("run", "--api", "--to", "openai-chat", "--tools", "run_tools:registry", stdin=answer)[1]
    )
    assert message["tool_call_id"] == "c1"
    assert "looks like" not in message["content"]


def test_an_error_of_an_api_is_reported_in_its_words(run: Run) -> None:
    code, out, err = run("run", "--api", "--tools", "run_tools:registry", stdin='{"error": {"message": "overloaded"}}')
    assert (code, out, err) == (1, "", "toolfmt: the API's answer is an error: overloaded\n")


def test_a_module_whose_own_import_is_missing_says_which(run: Run, tmp_path: Path) -> None:
    (tmp_path / "run_broken.py").write_text("import nowhere_to_be_found\n", encoding="utf-8")
    assert "nowhere_to_be_found" in run("run", "--tools", "run_broken:registry", stdin=DOUBLE)[2]
