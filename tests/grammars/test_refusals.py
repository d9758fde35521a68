"""What cannot be asked for, and what a grammar cannot say, is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from grammar_samples import TOOLS

from toolfmt import ToolDefinition, UnknownDialectError, default_registry, grammar
from toolfmt.errors import SchemaError, UnknownToolError, UnrepresentableError, UnsupportedSchemaError


def made(schema: dict[str, Any], **options: Any) -> Any:
    return grammar("hermes", [ToolDefinition(name="f", parameters=schema)], **options)


def test_an_unknown_target() -> None:
    with pytest.raises(ValueError, match="did you mean 'gbnf'"):
        grammar("hermes", TOOLS, target="gbnff")


def test_an_unknown_tool() -> None:
    with pytest.raises(UnknownToolError, match="did you mean 'get_weather'"):
        grammar("hermes", TOOLS, choice="get_wether")


def test_an_unknown_format() -> None:
    with pytest.raises(UnknownDialectError, match="hermes"):
        grammar("hermess", TOOLS)


def test_no_tools() -> None:
    with pytest.raises(ValueError, match="no tools are given"):
        grammar("hermes", [])
    assert grammar("hermes", [], choice="none").text


def test_a_format_without_text() -> None:
    api = replace(default_registry().dialect("hermes"), syntax=None)
    with pytest.raises(UnrepresentableError, match="objects of an API"):
        grammar(api, TOOLS)


def test_arguments_in_yaml() -> None:
    with pytest.raises(UnrepresentableError, match="indentation"):
        grammar("yaml-xml", TOOLS)


@pytest.mark.parametrize(
    "schema", [{"type": "array"}, {"type": "objekt"}, {"properties": {"a": {"$ref": "https://example.org/x"}}}]
)
def test_schemas_that_cannot_be_used(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match="'f'"):
        made(schema)


@pytest.mark.parametrize(
    ("schema", "reported"),
    [
        ({"type": "array", "uniqueItems": True}, "f: /properties/v/uniqueItems is not held to"),
        ({"type": "integer", "multipleOf": 3}, "f: /properties/v/multipleOf is not held to"),
        ({"type": "string", "pattern": "(?=a)"}, "f: /properties/v/pattern is not held to (look-around"),
        ({"type": "string", "pattern": "a{12345}"}, "f: /properties/v/pattern is not held to (more than 1000"),
        ({"type": "string", "maxLength": 100_000}, "f: /properties/v/maxLength is not held to"),
        ({"type": "integer", "not": {"const": 3}}, "f: /properties/v/not is not held to"),
        ({"type": "number", "minimum": 0.5}, "f: /properties/v/minimum is not held to (0 is the bound)"),
    ],
)
@pytest.mark.parametrize("target", ["lark", "gbnf", "structural-tag", "regex"])
def test_what_is_not_held_to_is_reported(schema: dict[str, Any], reported: str, target: str) -> None:
    whole = {"type": "object", "properties": {"v": {"items": {"type": "integer"}, **schema}}}
    found = made(whole, target=target, choice="required").relaxed
    assert any(line.startswith(reported) for line in found), found


def test_nothing_is_reported_plain_schemas() -> None:
    assert grammar("hermes", TOOLS).relaxed == grammar("hermes", TOOLS).narrowed == ()


@pytest.mark.parametrize(("dialect", "written"), [("pythonic", False), ("xml-items", True), ("gemma4", False)])
def test_lists_in_lists_are_written_or_refused_at_once(dialect: str, *, written: bool) -> None:
    inner: dict[str, Any] = {}
    for _ in range(30):
        inner = {"items": inner}
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"a": inner}}}
    if written:
        assert len(grammar(dialect, [tool], target="lark").text) < 100_000
    else:
        with pytest.raises(UnsupportedSchemaError, match="use the target gbnf"):
            grammar(dialect, [tool], target="lark")
