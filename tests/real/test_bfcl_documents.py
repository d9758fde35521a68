"""Real function documents are shown in every dialect, with examples that are read back as valid calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from jsonschema_rs import ValidationError, is_valid
from tests.real.bfcl import Data

import toolfmt
from toolfmt import jsontext
from toolfmt.dialect import Dialect
from toolfmt.registry import default_registry


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    """All objects in a schema."""
    if isinstance(value, dict):
        yield value
    if isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from nodes(inner)


def contradicts_itself(schema: dict[str, Any]) -> bool:
    """Whether a place allows no value: its type is none, or none of its listed values is of its type."""
    for node in nodes(schema):
        kind, listed = node.get("type"), node.get("enum")
        try:
            if isinstance(kind, str) and listed and not any(is_valid({"type": kind}, value) for value in listed):
                return True
            is_valid({"type": kind} if isinstance(kind, str) else {}, None)
        except ValidationError:
            return True
    return False


def test_documents_without_a_valid_call_are_few(data: Data) -> None:
    hopeless = [tool.name for tool in data.documents if contradicts_itself(tool.parameters)]
    assert hopeless == []


@pytest.mark.parametrize("dialect", list(default_registry()), ids=lambda dialect: dialect.name)
def test_documents_are_shown(dialect: Dialect[str], data: Data, record_property: Callable[[str, object], None]) -> None:
    examples = 0
    for tool in data.documents:
        assert tool.name in dialect.schema(tool)
        if contradicts_itself(tool.parameters):
            continue
        for example in dialect.example(tool):
            result = toolfmt.parse(example.text, dialect=dialect, tools=[tool], validate=True)
            assert (result.failures, result.notices, result.text) == ((), (), "")
            (call,) = result.calls
            assert call.name == tool.name
            assert jsontext.equal(call.arguments, example.call.arguments)
            examples += 1
    record_property("documents", len(data.documents))
    record_property("examples", examples)
    print(f"\n{dialect.name}: {len(data.documents)} documents, {examples} examples")  # noqa: T201
    assert len(data.documents) == 3420
    assert examples >= len(data.documents)
