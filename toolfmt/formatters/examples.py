"""Example calls of a tool, written as the model should write them.

    example_formatter(calls)(tool)
    (Example(title="Basic Call (Required Arguments)", call=..., text='{"tool": ...}'),
     Example(title="Advanced Call (With Optional & Nested Arguments)", call=..., text=...))

The arguments come from `example_values`, the text from the dialect's own call formatter. Only examples that are read
back as the call that they show are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from toolfmt import jsontext
from toolfmt.dialect.record import AnyDialect, CallFormatter, Example, ExampleFormatter, Parser, ParserOptions
from toolfmt.errors import UnrepresentableError
from toolfmt.events import CallEnd
from toolfmt.formatters.example_values import example_arguments
from toolfmt.model import JsonObject, ToolDefinition, ToolInvocation
from toolfmt.schema import problems

RECOMMENDED: Final = "Recommended Call"
BASIC: Final = "Basic Call (Required Arguments)"
ADVANCED: Final = "Advanced Call (With Optional & Nested Arguments)"


def any_call(dialect: AnyDialect) -> str:
    """Write a call of an invented tool, which shows the dialect's syntax."""
    tool = ToolDefinition(name="tool_name", parameters={"properties": {"argument": {"type": "string"}}})
    return str(dialect.calls([ToolInvocation(name=tool.name, arguments={"argument": "value"})], {tool.name: tool}))


def example_formatter(calls: CallFormatter[str]) -> ExampleFormatter:
    """Make the example formatter that belongs to a call formatter.

    It returns the author's examples that fit the schema, then a call with the required arguments, in which no object
    is empty, then a call with all arguments. Duplicates, and examples that the dialect cannot
    represent, are dropped. Raises `SchemaError` for a schema that cannot be used.
    """

    def write(tool: ToolDefinition) -> tuple[Example, ...]:
        examples: list[Example] = []
        for title, arguments in _arguments(tool):
            if any(jsontext.equal(arguments, earlier.call.arguments) for earlier in examples):
                continue
            call = ToolInvocation(name=tool.name, arguments=arguments, server=tool.server)
            try:
                text = calls([call], {tool.name: tool})
            except UnrepresentableError:
                continue
            examples.append(Example(title=title, call=call, text=text))
        return tuple(examples)

    return write


def _arguments(tool: ToolDefinition) -> Iterator[tuple[str, JsonObject]]:
    fitting = [arguments for arguments in tool.examples if not problems(tool, arguments)]
    yield from ((RECOMMENDED, arguments) for arguments in fitting)
    yield BASIC, example_arguments(tool.parameters, optional=False, suggestions=fitting)
    yield ADVANCED, example_arguments(tool.parameters, optional=True, suggestions=fitting)


def verified(
    dialect: str, write: CallFormatter[str], open_parser: Callable[[ParserOptions], Parser[str]]
) -> CallFormatter[str]:
    """Wrap a call formatter: raise `UnrepresentableError` for calls that are not read back as written."""

    def check(calls: Sequence[ToolInvocation], tools: Mapping[str, ToolDefinition]) -> str:
        text = write(calls, tools)
        parser = open_parser(ParserOptions(tools=tools))
        events = [*parser.feed(text), *parser.close()]
        back = [event.call for event in events if isinstance(event, CallEnd)]
        for index, call in enumerate(calls):
            if index >= len(back) or back[index].name != call.name:
                advice = "; its definition is not among the tools" if tools else "; give its definition (tools=)"
                advice = "" if call.name in tools else advice
                raise UnrepresentableError(dialect, "/arguments", f"{call.name!r} would not be read back{advice}")
            wrong = _difference(call, back[index])
            if wrong is not None:
                advice = "" if call.name in tools else "; give the tools: a schema may tell its type"
                raise UnrepresentableError(dialect, f"/arguments/{wrong}", f"it would be read back differently{advice}")
        if len(back) > len(calls):
            raise UnrepresentableError(dialect, "/arguments", "a value would be read back as a call")
        return text

    return check


def _difference(call: ToolInvocation, back: ToolInvocation) -> str | None:
    for key in call.arguments.keys() | back.arguments.keys():
        if key not in call.arguments or key not in back.arguments:
            return key
        if not jsontext.equal(call.arguments[key], back.arguments[key]):
            return key
    return None
