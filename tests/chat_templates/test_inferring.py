"""A format that nobody knows is inferred from what its chat template writes, or refused with reasons."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from new_families import FAMILIES, HOPELESS, ONE_AT_A_TIME

import toolfmt
from tests import sampling
from toolfmt import Dialect, ToolDefinition, ToolInvocation
from toolfmt.workshop.chat_templates.finding import FoundDialect
from toolfmt.workshop.chat_templates.sandbox import render
from toolfmt.workshop.testing import laws, strategies

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "lines": {"type": "integer"},
        "force": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
}
TOOLS = [ToolDefinition(name=name, parameters=SCHEMA) for name in ("read_file", "write.file")]
CALLS = [
    ToolInvocation(name="read_file", arguments={"path": "a b.txt", "lines": 12, "force": True}),
    ToolInvocation(name="write.file", arguments={"tags": ["x", "y"], "path": "é.md"}),
    ToolInvocation(name="read_file", arguments={"path": "c.txt"}),
]
USER = {"role": "user", "content": "Do it."}


NAMES = sampling.share(list(FAMILIES), 0, 2)


def found(folder: Path, source: str) -> FoundDialect:
    (folder / "chat_template.jinja").write_text(source, "utf-8")
    return toolfmt.find_dialect(folder)


@pytest.fixture(scope="module")
def inferred(tmp_path_factory: pytest.TempPathFactory) -> dict[str, FoundDialect]:
    return {name: found(tmp_path_factory.mktemp(name), FAMILIES[name]) for name in NAMES}


def turn(source: str, calls: list[ToolInvocation], **more: str) -> str:
    """What the template writes for an answer."""
    text = "+ arguments +" in source  # it takes them as text
    written = [
        {"name": call.name, "arguments": json.dumps(call.arguments) if text else call.arguments} for call in calls
    ]
    made = [{"id": f"call0000{at}", "type": "function", "function": one} for at, one in enumerate(written)]
    variables = {"tools": None, "add_generation_prompt": True, "messages": [USER]}
    before = render(source, variables)
    message = {"role": "assistant", "tool_calls": made, **more}
    after = render(source, {**variables, "add_generation_prompt": False, "messages": [USER, message]})
    assert after.startswith(before)
    return after[len(before) :]


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_it_reads_what_the_template_writes(inferred: dict[str, FoundDialect], name: str, count: int) -> None:
    one = inferred[name]
    assert (one.how, one.others) == ("inferred", ())
    wanted = CALLS[:count]
    result = toolfmt.parse(turn(FAMILIES[name], wanted), dialect=one.dialect, tools=TOOLS)
    assert not result.failures
    assert [(call.name, call.arguments) for call in result.calls] == [(call.name, call.arguments) for call in wanted]
    assert result.text == ""


@pytest.mark.parametrize("name", NAMES)
def test_text_and_reasoning_are_reported_from_calls(inferred: dict[str, FoundDialect], name: str) -> None:
    text = turn(FAMILIES[name], CALLS[:1], content="I look.", reasoning_content="Hm.")
    result = toolfmt.parse(text, dialect=inferred[name].dialect, tools=TOOLS)
    assert (result.reasoning, result.text, len(result.calls)) == ("Hm.", "I look.", 1)


@pytest.mark.parametrize("name", sorted({*NAMES} - {"json-text", "name-is-key", "counted"}))
def test_it_writes_as_the_template_does(inferred: dict[str, FoundDialect], name: str) -> None:
    wanted = [call.model_copy(update={"id": f"call0000{at}"}) for at, call in enumerate(CALLS[:2])]
    dialect = inferred[name].dialect
    assert toolfmt.render_calls(wanted, dialect=dialect, tools=TOOLS) in turn(FAMILIES[name], wanted)


@settings(max_examples=5)
@given(data=st.data())
@pytest.mark.parametrize("name", NAMES)
def test_the_laws_hold(inferred: dict[str, FoundDialect], name: str, data: st.DataObject) -> None:
    dialect: Dialect[str] = inferred[name].dialect
    exchange = data.draw(strategies.exchanges(dialect))
    text = laws.round_trip(dialect, exchange.calls, exchange.tools)
    if text is not None:
        laws.chunking(dialect, text, range(len(text)), exchange.tools)
        laws.lossless(dialect, text, exchange.tools)


def test_a_template_that_takes_one_call_gives_a_dialect_of_one(tmp_path: Path) -> None:
    one = found(tmp_path, ONE_AT_A_TIME)
    assert one.how == "inferred"
    assert not one.dialect.traits.parallel


@pytest.mark.parametrize("name", HOPELESS)
def test_what_cannot_be_reported_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(toolfmt.UnknownDialectError, match=r"no dialect can be inferred|writes no calls"):
        found(tmp_path, HOPELESS[name])
