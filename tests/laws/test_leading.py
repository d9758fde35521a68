"""A call drafted in a closed block at the beginning of an answer is no call, whatever the format."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests import sampling
from toolfmt.dialect.record import Dialect, ParserOptions
from toolfmt.events import CallEnd, CallFailed, ReasoningDelta, TextDelta
from toolfmt.lookup.registry import default_registry
from toolfmt.model import ToolDefinition, ToolInvocation
from toolfmt.parsers.compiled.grammar import CompiledSyntax
from toolfmt.parsers.reading.regions import TextParser
from toolfmt.workshop.testing import laws

TOOL = ToolDefinition.model_validate(
    {
        "name": "rm",
        "description": "Remove a file.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    }
)


PLAIN = [
    one
    for one in sampling.dialects()
    if one.syntax is not None and one.syntax.frame is None and one.syntax.calls_in_reasoning != "call"
]
"""Headers tell the reasoning of the others, or calls in it are real."""


@pytest.fixture(params=PLAIN, ids=lambda dialect: dialect.name, scope="module")
def dialect(request: pytest.FixtureRequest) -> Dialect[str]:
    return request.param


@pytest.fixture
def call(dialect: Dialect[str]) -> str:
    """A call as the dialect writes it."""
    return dialect.calls([ToolInvocation(name="rm", arguments={"path": "x"})], {"rm": TOOL})


def _told(dialect: Dialect[str], text: str) -> tuple[list[str], str, str]:
    events = laws.read(dialect, [text], [TOOL])
    calls = [type(event).__name__ for event in events if isinstance(event, CallEnd | CallFailed)]
    reasoning = "".join(event.text for event in events if isinstance(event, ReasoningDelta))
    said = "".join(event.text for event in events if isinstance(event, TextDelta))
    return calls, reasoning, said


def test_a_draft_in_a_closed_block_is_no_call(dialect: Dialect[str], call: str) -> None:
    text = f"<think>I must not do\n{call}\nso.</think>No."
    calls, reasoning, said = _told(dialect, text)
    assert calls == []
    assert (reasoning.split()[:4], said) == (["I", "must", "not", "do"], "No.")
    laws.lossless(dialect, text, [TOOL])
    laws.chunking(dialect, text, range(1, len(text)), [TOOL])
    laws.truncated(dialect, text, range(1, len(text), 7), [TOOL])


def test_two_blocks_begin_an_answer(dialect: Dialect[str], call: str) -> None:
    assert _told(dialect, f"<think>One.</think>\n<think>{call}</think>No.")[0] == []


@pytest.mark.parametrize("name", ["xml-items", "tool-json", "openai-json", "default-json", "anthropic-json"])
def test_elsewhere_and_without_a_closer_the_marker_is_text(name: str) -> None:
    dialect = default_registry().dialect(name)
    assert isinstance(dialect, Dialect)
    call = dialect.calls([ToolInvocation(name="rm", arguments={"path": "x"})], {"rm": TOOL})
    assert _told(dialect, f"So: <think>{call}</think>")[0] == ["CallEnd"]
    assert _told(dialect, f"<think>Do it: {call}")[0] == ["CallEnd"]
    assert _told(dialect, "<think> opens it.") == ([], "", "<think> opens it.")


def test_a_format_may_have_no_such_blocks() -> None:
    syntax = default_registry().dialect("xml-items").syntax
    assert syntax is not None
    parser = TextParser(CompiledSyntax(replace(syntax, leading=())), ParserOptions())
    reported = [*parser.feed("<think>a</think>b"), *parser.close()]
    assert "".join(event.text for event in reported if isinstance(event, TextDelta)) == "<think>a</think>b"
