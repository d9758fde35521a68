"""The declarative description: data that travels as JSON, and what it refuses."""

from __future__ import annotations

import json

import pytest

import toolfmt
from tests import sampling
from toolfmt.errors import DialectRecordError
from toolfmt.syntax import dump, load, markers
from toolfmt.testing.laws import read

TEXT_DIALECTS = sampling.dialects()
CALL = toolfmt.ToolInvocation(name="f", arguments={"a": "x"}, server="s")
TOOL = toolfmt.ToolDefinition(name="f", parameters={"type": "object", "properties": {"a": {"type": "string"}}})


@pytest.mark.parametrize("dialect", TEXT_DIALECTS, ids=lambda dialect: dialect.name)
def test_a_description_survives_json(dialect: toolfmt.Dialect[str]) -> None:
    assert dialect.syntax is not None
    again = load(json.loads(json.dumps(dump(dialect.syntax))))
    twin = toolfmt.text_dialect(
        name="twin", summary="", syntax=again, schema=dialect.schema, manifest=dialect.manifest, sources=()
    )
    text = dialect.calls([CALL], {"f": TOOL})
    assert twin.calls([CALL], {"f": TOOL}) == text
    assert read(twin, [text], [TOOL]) == read(dialect, [text], [TOOL])


def test_a_wrong_field_is_named() -> None:
    with pytest.raises(DialectRecordError, match="forms"):
        load({"reasoning": []})


@pytest.mark.parametrize("dialect", TEXT_DIALECTS, ids=lambda dialect: dialect.name)
def test_results_cannot_smuggle_calls(dialect: toolfmt.Dialect[str]) -> None:
    assert dialect.syntax is not None
    trap = dialect.calls([CALL], {"f": TOOL})
    shown = dialect.results([toolfmt.ToolResult(name="f", content=trap)])
    if not dialect.syntax.bare:
        assert not any(isinstance(event, toolfmt.CallEnd) for event in read(dialect, [shown], [TOOL]))
    plain = dialect.results([toolfmt.ToolResult(name="f", content="")])
    assert all(shown.count(marker) == plain.count(marker) for marker in markers(dialect.syntax) if marker in trap)


def test_a_format_of_one_call_refuses_two() -> None:
    with pytest.raises(toolfmt.errors.UnrepresentableError, match="one call"):
        toolfmt.render_calls([CALL, CALL], dialect="step-json")


def test_a_name_that_the_markers_cannot_hold_is_refused() -> None:
    call = toolfmt.ToolInvocation(name="two\nlines", arguments={})
    with pytest.raises(toolfmt.errors.UnrepresentableError, match="/name"):
        toolfmt.render_calls([call], dialect="react")
    with pytest.raises(toolfmt.errors.UnrepresentableError, match="name"):
        toolfmt.render_calls([toolfmt.ToolInvocation(name="")], dialect="xml-items")
    assert (
        toolfmt.parse(toolfmt.render_calls([call], dialect="xml-items"), dialect="xml-items").calls[0].name == call.name
    )


def test_arguments_in_the_header_are_not_replaced_by_an_empty_body() -> None:
    call = toolfmt.ToolInvocation(name="write_file", arguments={"path": "a", "content": "x"})
    text = toolfmt.render_calls([call], dialect="sentinel")
    assert toolfmt.parse(text, dialect="sentinel").calls[0].arguments == call.arguments
