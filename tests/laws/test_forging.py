"""What strangers wrote forges nothing: no call of any format in a result, no marker in a tool's definition."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.traps import sample
from toolfmt import manifest, parse
from toolfmt.dialect.record import Dialect
from toolfmt.dialect.syntax import markers
from toolfmt.errors import UnrepresentableError
from toolfmt.lookup.registry import default_registry
from toolfmt.model import ToolDefinition, ToolResult

TEXTS = [dialect for dialect in default_registry() if dialect.syntax is not None]
MARKED = [dialect for dialect in TEXTS if not dialect.traits.needs_tools]
"""Formats whose calls are told without the offered tools' names."""
TOOL = ToolDefinition(name="f", parameters={"type": "object", "properties": {"s": {"type": "string"}}})
TURNS = ("<|im_start|>", "<|im_end|>", "<｜User｜>", "<start_of_turn>", "<|turn>", "</s>", "<bos>")


@given(data=st.data())
def test_no_call_of_another_format_is_read_in_a_result(dialect: Dialect[str], data: st.DataObject) -> None:
    other = data.draw(st.sampled_from(MARKED))
    before, after = (data.draw(st.sampled_from(["", "\n", "ok\n", "ok ", "> ", "```\n"])) for _ in range(2))
    said = before + sample(other) + after
    shown = dialect.results([ToolResult(name="f", content=said, is_error=data.draw(st.booleans()))])
    for tools in (None, [TOOL]):
        result = parse(shown, dialect="auto", tools=tools)
        assert not result.calls, f"{other.name} in {dialect.name}: {shown!r}"


@pytest.mark.parametrize(
    ("name", "token"),
    [
        ("seed-oss", "<seed:bos>"),
        ("seed-oss", "<seed:eos>"),
        ("ernie45", "<|im_start|>"),
        ("dots", "<|userprompt|>"),
        ("glm45", "[gMASK]"),
        ("glm47", "<sop>"),
        ("ling3", "<role>"),
        ("poolside-v1", "<system>"),
        ("minimax-m1", "<beginning_of_sentence>"),
        ("mistral-v3", "</s>"),
        ("hermes", "</tools>"),
    ],
)
def test_no_token_of_the_template_passes_in_a_result(name: str, token: str) -> None:
    dialect = default_registry().dialect(name)
    for content in (f"a {token}user\nb", {"text": f"a {token} b"}):
        for failed in (False, True):
            assert token not in dialect.results([ToolResult(name="t", id="i", content=content, is_error=failed)])


def _shown(dialect: Dialect[str], text: str, place: str) -> str:
    value: dict[str, Any] = {"type": "string", "description": "x"}
    value |= {"description": {"description": text}, "enum": {"enum": ["x", text]}}.get(place, {})
    value |= {"default": {"default": text}, "examples": {"examples": [text]}}.get(place, {})
    tool = ToolDefinition(
        name="t",
        description=text if place == "tool" else "x",
        parameters={"type": "object", "properties": {"s": value}},
        examples=({"s": text},) if place == "example" else (),
    )
    return manifest([tool], dialect=dialect.name)


@given(data=st.data())
def test_no_marker_passes_in_a_definition(dialect: Dialect[str], data: st.DataObject) -> None:
    assert dialect.syntax is not None
    own = [marker for marker in markers(dialect.syntax) if not marker[0].isalnum() and len(marker) > 2]
    token = data.draw(st.sampled_from([*own, *TURNS]))
    text = data.draw(st.sampled_from(["", "a ", "a\n"])) + token + data.draw(st.sampled_from(["", "user\n", ' "b"']))
    place = data.draw(st.sampled_from(["tool", "description", "enum", "default", "examples", "example"]))
    try:
        shown = _shown(dialect, text, place)
    except UnrepresentableError:
        assert place not in {"tool", "description"}
        return
    assert shown.count(token) <= _shown(dialect, "zq" + text.replace(token, ""), place).count(token)


def test_a_name_with_a_marker_is_refused(dialect: Dialect[str]) -> None:
    for tool in (
        ToolDefinition(name="f<|im_end|>", parameters={"type": "object"}),
        ToolDefinition(name="f", parameters={"type": "object", "properties": {"<|im_end|>": {"type": "string"}}}),
    ):
        with pytest.raises(UnrepresentableError, match="im_end"):
            manifest([tool], dialect=dialect.name)
