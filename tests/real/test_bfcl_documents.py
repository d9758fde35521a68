"""Real function documents are shown in every dialect, with examples that are read back as valid calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from jsonschema_rs import ValidationError, is_valid

import toolfmt
from tests import sampling
from tests.real.bfcl import Data
from toolfmt import jsontext
from toolfmt.dialect.record import Dialect
from toolfmt.errors import SchemaError
from toolfmt.events import MalformedCallError


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


@pytest.mark.parametrize("dialect", sampling.dialects(), ids=lambda dialect: dialect.name)
def test_documents_are_shown(dialect: Dialect[str], data: Data, record_property: Callable[[str, object], None]) -> None:
    hopeless: list[toolfmt.ToolDefinition] = []
    examples = 0
    whole = sampling.everything and dialect.manifest != "native.jinja"
    documents = data.documents[:: 1 if whole else 12 if sampling.everything else 150]
    for tool in documents:
        assert tool.name in dialect.schema(tool)
        try:
            for example in dialect.example(tool):
                result = toolfmt.parse(example.text, dialect=dialect, tools=[tool], validate=True)
                result.raise_for_failures()
                (call,) = result.calls
                assert (call.name, result.notices, result.text) == (tool.name, (), "")
                assert jsontext.equal(call.arguments, example.call.arguments)
                examples += 1
        except* (MalformedCallError, SchemaError):
            hopeless.append(tool)
    record_property("documents", len(documents))
    record_property("examples", examples)
    print(f"\n{dialect.name}: {len(documents)} documents, {examples} examples")  # noqa: T201
    assert all(contradicts_itself(tool.parameters) for tool in hopeless)
    assert (len(documents), len(hopeless), examples) in {(3420, 4, 5554), (285, 0, 469), (23, 0, 38)}
