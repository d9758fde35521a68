"""`toolfmt render`: calls and results, from lists and from what `parse` prints."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import sampling
from toolfmt.lookup.registry import default_registry
from toolfmt.model import ToolInvocation, ToolResult
from toolfmt.rendering import render_calls, render_results

Run = Callable[..., tuple[int, str, str]]

CALLS = [
    {"name": "get_weather", "arguments": {"city": "Paris & <Lyon>", "days": 2}},
    {"name": "take_note", "arguments": {"text": "a\nb"}},
]


@pytest.mark.parametrize("dialect", sampling.names())
def test_calls_come_back(run: Run, tools: Path, dialect: str) -> None:
    calls = CALLS if default_registry().dialect(dialect).traits.parallel else CALLS[:1]
    options = ("-d", dialect, "--tools", tools)
    code, text, err = run("render", "-", *options, stdin=json.dumps(calls))
    assert (code, err) == (0, "")
    assert text == render_calls([ToolInvocation(**call) for call in calls], dialect=dialect, tools=str(tools))
    code, found, _ = run("parse", "-", *options, "--json", stdin=text)
    assert code == 0
    assert [{key: call[key] for key in ("name", "arguments")} for call in json.loads(found)["calls"]] == calls
    again = run("render", *options, stdin=found)[1]
    assert run("parse", "-", *options, "--json", stdin=again)[1] == found


def test_one_call_alone_with_id_and_server(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "call.json"
    path.write_text('{"name": "f", "arguments": {"n": 1.0}, "id": "call_7", "server": "far"}', "utf-8")
    assert 'id="call_7"' in run("render", path, "--xml")[1]
    assert '"server_name": "far"' in run("render", path, "-d", "tool-json")[1]
    assert '"n": 1.0' in run("render", path)[1]


@pytest.mark.parametrize("wrapped", [False, True])
def test_results(run: Run, wrapped: bool) -> None:  # noqa: FBT001
    results = [{"name": "f", "content": {"a": [1, None]}}, {"name": "g", "content": "no", "is_error": True}]
    given = json.dumps({"results": results} if wrapped else results)
    expected = render_results([ToolResult(**one) for one in results], dialect="execute-array")
    assert run("render", "--results", "-d", "execute-array", stdin=given) == (0, expected, "")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ('[{"arguments": {}}]', "<stdin>: calls[0].name: the field is missing; the fields are name, arguments, "),
        ('[{"name": "f", "arguments": "{}"}]', "<stdin>: calls[0].arguments: "),
        ('{"calls": [{"name": "f", "args": {}}]}', "<stdin>: calls[0].args: "),
        ("3", "<stdin>: calls[0] is a ToolInvocation or a dict with its fields, not int"),
        ("", "<stdin>: it is empty, but JSON was expected"),
        (
            "Let me look.",
            "<stdin>: this is not the JSON that was expected: expected a JSON value, not 'Let', at line 1, column 1",
        ),
        ("[{]", "<stdin>: this is not the JSON that was expected: "),
        ('{"name": "f", "name": "g"}', "<stdin>: this is not the JSON that was expected: duplicate key"),
    ],
)
def test_what_is_no_call(run: Run, given: str, said: str) -> None:
    code, out, err = run("render", stdin=given)
    assert (code, out) == (2, "")
    assert err.startswith(f"toolfmt: {said}")
    assert err.count("\n") == 1


def test_advice_names_what_the_shell_has(run: Run) -> None:
    assert run("render", stdin='[{"nme": "f"}]')[2].endswith(
        "`toolfmt view` shows an API's own calls, and `toolfmt run --api` runs them\n"
    )
    given = '[{"name": "f", "arguments": {"a": 1.5, "b": "5"}}]'
    assert "; add --tools: a schema may tell its type" in run("render", "-d", "glm45", stdin=given)[2]


@pytest.mark.parametrize(
    ("name", "noted"),
    [("openai", "harmony; --provider openai is the format openai-json"), ("harmony", ""), ("hermes", "")],
)
def test_a_name_of_a_provider_and_of_another_format_is_noted(run: Run, name: str, noted: str) -> None:
    said = f"toolfmt: --dialect {name} is the format {noted}\n" if noted else ""
    assert run("parse", "-d", name, stdin="Hello.")[2] == said
