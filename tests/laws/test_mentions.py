"""A marker that an answer only speaks of is text, and so is what would close it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from toolfmt import default_registry, parse, parse_stream
from toolfmt.events import coalesce
from toolfmt.model import ToolDefinition, ToolInvocation

if TYPE_CHECKING:
    from toolfmt.dialect.record import Dialect

TOOL = ToolDefinition(name="run", parameters={"type": "object", "properties": {"x": {"type": "string"}}})
_TAG = r"<[^<>\s/][^<>]*>|\[[A-Z_]{3,}\]"
_CLOSER = r"</[^<>]+>|<[^<>]*end[^<>]*>|<[\w]+\|>|\[/[A-Z_]{3,}\]"


def markers(dialect: Dialect[str]) -> tuple[str, str] | None:
    """What a call begins and ends with, where both are markup."""
    server = "local" if dialect.traits.carries_server else None
    text = dialect.calls([ToolInvocation(name="run", arguments={"x": "a"}, server=server)], {"run": TOOL}).strip()
    begin, ends = re.match(_TAG, text), re.findall(rf"(?:{_CLOSER})\Z", text)
    return (begin.group(), ends[0]) if begin and ends else None


@pytest.mark.parametrize("quote", ["`", '"'])
@pytest.mark.parametrize(
    "said", ["Use {o} for a call.", "Close it with {c} please.", "A call is between {o} and {c}, as I said."]
)
def test_a_marker_in_quotes_is_text(dialect: Dialect[str], said: str, quote: str) -> None:
    found = markers(dialect)
    if found is None or (dialect.syntax is not None and dialect.syntax.frame is not None):
        return
    text = said.format(o=f"{quote}{found[0]}{quote}", c=f"{quote}{found[1]}{quote}")
    result = parse(text, dialect=dialect, tools=[TOOL])
    assert (result.text, result.calls, result.failures, result.notices) == (text, (), (), ())
    assert tuple(coalesce(list(parse_stream(text, dialect=dialect, tools=[TOOL])))) == result.events


def test_a_call_after_a_mention_is_read(dialect: Dialect[str]) -> None:
    found = markers(dialect)
    if found is None or (dialect.syntax is not None and dialect.syntax.frame is not None):
        return
    server = "local" if dialect.traits.carries_server else None
    call = ToolInvocation(name="run", arguments={"x": "a"}, server=server)
    text = f"I use `{found[0]}` now.\n{dialect.calls([call], {'run': TOOL})}"
    result = parse(text, dialect=dialect, tools=[TOOL])
    assert [(read.name, read.arguments) for read in result.calls] == [("run", {"x": "a"})]
    assert result.text.strip() == f"I use `{found[0]}` now."


@pytest.mark.parametrize(
    "shown", ["<tool_call>{...}</tool_call>", "<tool_call>\u2026</tool_call>", "<tool_call>{name}"]
)
@pytest.mark.parametrize("name", ["hermes", "qwen3-coder", "glm45"])
def test_a_call_without_content_in_code_is_text(name: str, shown: str) -> None:
    call = ToolInvocation(name="run", arguments={"x": "a"})
    said = f"Models write `{shown}` for this.\n"
    text = said + default_registry().dialect(name).calls([call], {"run": TOOL})
    result = parse(text, dialect=name, tools=[TOOL])
    assert [call.arguments for call in result.calls] == [{"x": "a"}]
    assert result.text.strip() == said.strip()
    assert tuple(coalesce([*parse_stream(iter(text), dialect=name, tools=[TOOL])])) == result.events
