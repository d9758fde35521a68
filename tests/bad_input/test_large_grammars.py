"""Grammars of large schemas: made in a time that grows with the schema, or refused at once with the place."""

from __future__ import annotations

from typing import Any

import pytest

from toolfmt.errors import UnsupportedSchemaError
from toolfmt.workshop.grammars import grammar

pytestmark = pytest.mark.timeout(60)

DIALECTS = ["hermes", "xml-items", "pythonic", "gemma4"]


def doubled(levels: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {"d0": {"type": "string"}}
    for number in range(1, levels + 1):
        below = {"$ref": f"#/$defs/d{number - 1}"}
        definitions[f"d{number}"] = {"type": "object", "properties": {"x": below, "y": below}}
    return {"type": "object", "properties": {"a": {"$ref": f"#/$defs/d{levels}"}}, "$defs": definitions}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_long_enumeration_is_written_whole(dialect: str) -> None:
    values = [f"value-{number}" for number in range(5000)]
    made = grammar(dialect, [{"name": "f", "parameters": {"properties": {"e": {"enum": values}}}}], target="gbnf")
    assert made.relaxed == ()
    assert len(made.text) > len(values)


@pytest.mark.parametrize("target", ["lark", "gbnf", "structural-tag", "regex"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_would_be_too_large_is_refused_with_the_tool_and_the_place(dialect: str, target: str) -> None:
    many = {
        "properties": {"deep": {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(2000)}}}
    }
    with pytest.raises(UnsupportedSchemaError, match="'f', at /properties/deep: 2000 properties"):
        grammar(dialect, [{"name": "f", "parameters": many}], target=target)
    with pytest.raises(UnsupportedSchemaError, match=r"'f' is too large for a grammar, at /\S+"):
        grammar(dialect, [{"name": "f", "parameters": doubled(12)}], target=target)
