"""What is read at once is what is read character by character, also where it is not quite as the format writes it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.sampling import dialects, kinds, share
from toolfmt.dialect.record import Dialect, Limits, ParserOptions
from toolfmt.errors import UnrepresentableError
from toolfmt.events import Event, coalesce
from toolfmt.model import ToolDefinition, ToolInvocation
from toolfmt.parsers.exact.whole import WholeParser
from toolfmt.parsing import open_parser, parse

TOOLS = {
    "f": ToolDefinition(
        name="f",
        parameters={
            "type": "object",
            "properties": {"a": {"type": "string"}, "n": {"type": "integer"}, "l": {"type": "array"}},
        },
    )
}
CALLS = [
    ToolInvocation(name="f", arguments={"a": "x <b> & y\n", "n": 3, "l": ["p", 1]}),
    ToolInvocation(name="f", arguments={"a": '<p class="q">i < 2</p> <br/>\n</div>'}),
    ToolInvocation(name="f", arguments={"a": ""}),
]
SLIPS = (" ", "\n", "<", '"', "}", "]", ",", "\\", "x", "")
"""What is put in place of a character."""
STEP = 7
KINDS = kinds()


def read(dialect: Dialect[str], text: str, size: int) -> list[Event]:
    """Read an answer in pieces of `size` characters."""
    parser = dialect.open_parser(ParserOptions(tools=TOOLS, whole=size >= len(text)))
    events = [event for at in range(0, len(text), size) for event in parser.feed(text[at : at + size])]
    return coalesce([*events, *parser.close()])


@pytest.mark.parametrize("dialect", KINDS, ids=lambda dialect: dialect.name)
def test_a_slip_is_read_alike_whole_and_by_characters(dialect: Dialect[str]) -> None:
    try:
        written = "Look.\n" + dialect.calls(CALLS, TOOLS) + "\nDone."
    except UnrepresentableError:
        written = "Look.\n" + dialect.calls(CALLS[2:], TOOLS) + "\nDone."
    for at in share(range(6, len(written), STEP), KINDS.index(dialect), 3):
        slip = SLIPS[at // STEP % len(SLIPS)]
        text = written[:at] + slip + written[at + 1 :]
        assert read(dialect, text, len(text)) == read(dialect, text, 1), text


AFTER = ('<arg name="<arg name="', '\n{"a": 1}}', '; x", "n": 2}}', "\n[1]", "]", "\n}", ". Done.", "\n\nDone.")
"""What may follow the last call."""


@pytest.mark.parametrize("dialect", dialects(), ids=lambda dialect: dialect.name)
def test_what_follows_a_call_is_read_alike_whole_and_by_characters(dialect: Dialect[str]) -> None:
    written = dialect.calls(CALLS[2:], TOOLS)
    for text in (written + after for after in AFTER):
        assert read(dialect, text, len(text)) == read(dialect, text, 1), text


@pytest.mark.parametrize("dialect", dialects(), ids=lambda dialect: dialect.name)
def test_an_answer_that_ends_anywhere_is_read_alike_by_parse_and_by_characters(dialect: Dialect[str]) -> None:
    written = "Look.\n" + dialect.calls(CALLS[2:], TOOLS)
    for end in range(len(written), 6, -3):
        parser = open_parser(dialect=dialect, tools=[*TOOLS.values()])
        events = [event for char in written[:end] for event in parser.feed(char)]
        whole = parse(written[:end], dialect=dialect, tools=[*TOOLS.values()])
        assert [*whole.events] == coalesce([*events, *parser.close()]), written[:end]


@pytest.mark.parametrize("limits", [Limits(depth=1), Limits(digits=3), Limits(calls=1)])
@pytest.mark.parametrize("dialect", dialects(), ids=lambda dialect: dialect.name)
def test_limits_are_the_same_whole_and_by_characters(dialect: Dialect[str], limits: Limits) -> None:
    call = ToolInvocation(name="f", arguments={"a": "x", "n": 12345, "l": [["p"], 1]})
    try:
        written = dialect.calls([call, call] if dialect.traits.parallel else [call], TOOLS)
    except UnrepresentableError:
        written = dialect.calls(CALLS[2:], TOOLS)
    options = ParserOptions(tools=TOOLS, limits=limits)
    parser, by_characters = dialect.open_parser(replace(options, whole=True)), dialect.open_parser(options)
    whole = coalesce([*parser.feed(written), *parser.close()])
    events = [event for char in written for event in by_characters.feed(char)]
    assert whole == coalesce([*events, *by_characters.close()]), written


@pytest.mark.parametrize("dialect", [one for one in dialects() if one.traits.bare], ids=lambda dialect: dialect.name)
def test_a_bare_call_in_prose_is_read_at_once(dialect: Dialect[str]) -> None:
    written = dialect.calls(CALLS[2:], TOOLS)
    for text in (written, f"Look.\n{written}", f"Look.\n{written}\nDone."):
        parser = dialect.open_parser(ParserOptions(tools=TOOLS, whole=True))
        assert not isinstance(parser, WholeParser) or parser.read(text) is not None, text
