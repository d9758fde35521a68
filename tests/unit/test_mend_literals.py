"""Python-like calls with one slip are mended where one reading is left, and else refused."""

from __future__ import annotations

from typing import Any

import pytest

from toolfmt import parse
from toolfmt.model import ToolDefinition

PROPERTIES = {"a": {"type": "string"}, "b": {"type": "integer"}, "t": {"type": "array"}, "o": {"type": "object"}}
TOOLS = [ToolDefinition(name=name, parameters={"type": "object", "properties": PROPERTIES}) for name in ("f", "g")]
FORMATS = {"pythonic": "[{}]", "lfm2": "<|tool_call_start|>[{}]<|tool_call_end|>"}


def mended(body: str, dialect: str) -> list[dict[str, Any]]:
    result = parse(FORMATS[dialect].format(body), dialect=dialect, tools=TOOLS, repair=True)
    assert all(call.certainty == "guessed" for call in result.calls)
    return [dict(call.arguments) for call in result.calls]


@pytest.mark.parametrize("dialect", FORMATS)
@pytest.mark.parametrize(
    ("body", "arguments"),
    [
        ("f(a='x', b:1)", [{"a": "x", "b": 1}]),
        ("f(a=='x')", [{"a": "x"}]),
        ("f('a'='x', 'b'=1)", [{"a": "x", "b": 1}]),
        ("f(a='x', b=1", [{"a": "x", "b": 1}]),
        ("f(a='x', t=[1, 2)", [{"a": "x", "t": [1, 2]}]),
        ("f(a='x', o={'k': 1)", [{"a": "x", "o": {"k": 1}}]),
        ("f(a='x' b=1)", [{"a": "x", "b": 1}]),
        ("f(b=1, a='x)", [{"b": 1, "a": "x"}]),
        ("f(a='x')), g(a='y')", [{"a": "x"}, {"a": "y"}]),
    ],
)
def test_one_reading_is_taken(dialect: str, body: str, arguments: list[dict[str, Any]]) -> None:
    assert mended(body, dialect) == arguments


@pytest.mark.parametrize("dialect", FORMATS)
@pytest.mark.parametrize(
    "body", ["f(t=[[1, 2])", "f(a=x, b=1)", "f(a='x, b=1)", "f(a='x\", b=1)", "f(a='x', a'y')", "f(o={'k': [1, 2})"]
)
def test_two_readings_are_refused(dialect: str, body: str) -> None:
    result = parse(FORMATS[dialect].format(body), dialect=dialect, tools=TOOLS, repair=True)
    assert mended(body, dialect) in ([], [{"o": {"k": [1, 2]}}])
    assert result.failures


def test_a_call_that_is_quoted_in_a_broken_one_is_not_mended() -> None:
    quoted = "START\\n<|python_start|>[g(a='/')]<|python_end|>\\nEND"
    text = f'[|python_start|>[f(b=1, a="{quoted}")]<|python_end|>'
    result = parse(text, dialect="llama4-pythonic", tools=TOOLS, repair=True)
    assert (result.calls, len(result.failures)) == ((), 1)
