"""Odd values in the place of each argument of a public function: only documented exceptions are raised."""

from __future__ import annotations

import traceback
from collections import OrderedDict, UserDict
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import toolfmt
from tests.bad_input.test_schema_bombs import nested
from toolfmt import ToolDefinition, ToolInvocation, ToolResult
from toolfmt.errors import ToolFmtError

LOOP: dict[str, Any] = {}
LOOP["a"] = LOOP
OBJECT = {"type": "object"}


class Words(str):
    """Text of another class."""

    __slots__ = ()


def schemas() -> Iterator[tuple[str, Any]]:
    """Yield schemas that are no JSON."""
    yield "number keys", {1: {}, "type": "object", "properties": {2: {}}}
    yield "a set", {"type": {"object"}}
    yield "an object", {"properties": {"a": {"default": object()}}}
    yield "a loop", {"properties": LOOP}
    yield "nan", {"properties": {"a": {"enum": [float("nan")]}}}
    yield "digits", {"properties": {"a": {"maximum": 10**5000, "const": 10**5000}}}
    yield "surrogates", {"properties": {"\ud800": {"enum": ["\ud800"]}}}


def values() -> Iterator[tuple[str, Any]]:
    """Yield values of every kind, none of which is what an argument takes as it is."""
    yield from {"none": None, "true": True, "bytes": b"\xff", "view": memoryview(b"x"), "text": "\ud800"}.items()
    yield from {"digits": 10**5000, "nan": float("nan"), "decimal": Decimal(1), "range": range(3)}.items()
    yield from {"object": object(), "class": dict, "function": lambda: 1, "set": {1}, "words": Words("f")}.items()
    yield from {"ordered": OrderedDict(name="f"), "user's": UserDict(name="f"), "keys": {1: {None: 1}}}.items()
    yield from {
        "list": [None, b"", "\ud800"],
        "deep": nested(5_000, lambda inner: [inner]),
        "loop": LOOP,
        "digits within": [10**5000],
    }.items()
    yield from {"message": [{"role": [], "content": b"x"}], "numbers": [{"role": "user", "content": 10**5000}]}.items()
    yield "call", [ToolInvocation(name="f", arguments={"a": object(), "b": LOOP})]
    yield "result", ToolResult(name="\ud800", content=nested(5_000, lambda inner: [inner]))
    for name, schema in schemas():
        yield f"tool with {name}", [{"name": "f", "parameters": schema}]
        if all(isinstance(key, str) for key in schema):
            yield f"definition with {name}", [ToolDefinition(name="f", parameters=schema)]


TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {"s": {"type": "string"}}}}]
CALL = {"name": "f", "arguments": {"s": "x"}}
CHAT = [{"role": "user", "content": "x"}]
ANSWER = {"object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": "x"}}]}
FUNCTIONS: dict[str, tuple[Callable[..., Any], list[Any], dict[str, Any]]] = {
    "parse": (
        toolfmt.parse,
        ['<tool_call>{"name": "f", "arguments": {}}</tool_call>'],
        {"tools": TOOLS, "dialect": "hermes"},
    ),
    "parse_stream": (toolfmt.parse_stream, [["x"]], {"tools": TOOLS, "provider": None, "model": None}),
    "detect": (toolfmt.detect, ["x", TOOLS], {}),
    "manifest": (toolfmt.manifest, [TOOLS], {"dialect": "hermes", "examples": None}),
    "inject": (toolfmt.inject, ["x", TOOLS], {}),
    "render_calls": (toolfmt.render_calls, [[CALL]], {"dialect": "hermes", "tools": TOOLS}),
    "render_results": (toolfmt.render_results, [[{"name": "f", "content": 1}]], {"dialect": "hermes", "tools": TOOLS}),
    "feedback": (toolfmt.feedback, [toolfmt.CallFailed(0, "x", "malformed", "d", (0, 1))], {"tools": TOOLS}),
    "grammar": (toolfmt.grammar, ["hermes", TOOLS], {"output": OBJECT, "choice": "auto"}),
    "lower_schema": (toolfmt.lower_schema, [OBJECT], {"provider": "gemini", "strict": True}),
    "convert": (toolfmt.convert, [CHAT], {"source": "openai-chat", "target": "anthropic", "residue": None}),
    "convert_request": (
        toolfmt.convert_request,
        [{"messages": CHAT}],
        {"source": "openai-chat", "target": "anthropic"},
    ),
    "convert_answer": (toolfmt.convert_answer, [ANSWER], {"target": "anthropic"}),
    "check": (toolfmt.check, [CHAT], {"format": "openai-chat"}),
    "repair": (toolfmt.repair, [CHAT], {"format": "openai-chat", "drop": False}),
    "read_answer": (toolfmt.read_answer, [ANSWER], {"tools": TOOLS}),
    "read_stream": (toolfmt.read_stream, [[]], {}),
    "write_stream": (toolfmt.write_stream, [[]], {"target": "openai-chat", "id": None, "model": None}),
    "render_prompt": (toolfmt.render_prompt, [CHAT], {"template": "{{ messages }}", "tools": TOOLS}),
    "response_dialect": (toolfmt.response_dialect, [{"fields": {}}], {}),
    "tools": (toolfmt.ToolRegistry, [TOOLS], {}),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_odd_value_in_place_of_an_argument_raises_only_what_is_documented(name: str) -> None:
    function, places, options = FUNCTIONS[name]
    for odd, value in values():
        for at in range(len(places)):
            attempt(function, [*places[:at], value, *places[at + 1 :]], options, f"{odd}, place {at}")
        for option in options:
            attempt(function, places, {**options, option: value}, f"{odd}, {option}=")


def attempt(function: Callable[..., Any], places: list[Any], options: dict[str, Any], what: str) -> None:
    try:
        made = function(*places, **options)
        if hasattr(made, "__next__"):
            list(islice(made, 10))
    except ToolFmtError:
        return
    except Exception as error:  # noqa: BLE001 - what is raised is looked at
        wrong = error
    else:
        return
    raised = Path(traceback.extract_tb(wrong.__traceback__)[-1].filename)
    assert type(wrong) in {TypeError, ValueError}, f"{what}: {wrong!r}"
    assert "toolfmt" in raised.parts, f"{what}: not of this package, so that its message says little: {wrong}"
