"""Example calls of a tool, written as the model should write them, and those that a manifest shows.

    example_formatter(calls)(tool)
    (Example(title="Basic Call (Required Arguments)", call=..., text='{"tool": ...}'),
     Example(title="Advanced Call (With Optional & Nested Arguments)", call=..., text=...))

    manifest(tools, examples=1)
    manifest(tools, examples={"get_weather": [{"city": "Paris", "days": 2}]})

The arguments come from `example_values`, the text from the dialect's own call formatter. Only examples that are read
back as the call that they show are kept. A manifest shows a number of them for each tool, or the caller's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from toolfmt import jsontext
from toolfmt.dialect.record import AnyDialect, CallFormatter, Example, ExampleFormatter, Parser, ParserOptions
from toolfmt.errors import ArgumentsError, UnknownToolError, UnrepresentableError
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


Examples: TypeAlias = "int | Mapping[str, Sequence[JsonObject]] | None"
"""The largest number of examples for each tool, or argument objects by tool name; None leaves it to the dialect."""


class ExampleChoice:
    """The requested examples."""

    def __init__(self, examples: Examples, tools: Sequence[ToolDefinition]) -> None:
        """Check the request; raises TypeError, ValueError, or an error that names the tool."""
        if examples is not None and not isinstance(examples, Mapping) and type(examples) is not int:
            raise TypeError(f"examples= takes a number, or argument objects by tool, not {type(examples).__name__}")
        if isinstance(examples, int) and examples < 0:
            raise ValueError(f"examples= takes a number from 0, not {examples}")
        self._most = examples if isinstance(examples, int) else None
        self._own: Mapping[str, Sequence[JsonObject]] = examples if isinstance(examples, Mapping) else {}
        offered = {tool.name: tool for tool in tools}
        for name, given in self._own.items():
            if name not in offered:
                raise UnknownToolError(name, offered)
            if isinstance(given, str | Mapping) or not all(map(jsontext.is_object, given)):
                raise TypeError(f"examples= takes a list of argument objects for {name!r}")
            for arguments in given:
                if wrong := problems(offered[name], arguments):
                    raise ArgumentsError(name, wrong)

    def given(self, tool: ToolDefinition) -> ToolDefinition:
        """Replace a tool's examples by those that were passed for it."""
        own = self._own.get(tool.name)
        return tool if own is None else tool.model_copy(update={"examples": tuple(own)})

    def kept(self, tool: ToolDefinition, found: Sequence[Example], dialect: str) -> Sequence[Example]:
        """Select a tool's examples; raises `UnrepresentableError` if a passed example could not be written."""
        own = self._own.get(tool.name)
        if own is None:
            return found[: self._most]
        kept: list[Example] = []
        for at, arguments in enumerate(own):
            same = next((one for one in found if jsontext.equal(one.call.arguments, arguments)), None)
            if same is None:
                reason = f"this example of {tool.name!r} cannot be written in the format"
                raise UnrepresentableError(dialect, f"/examples/{at}", reason)
            if same not in kept:
                kept.append(same)
        return kept

    def check_shown(self, text: str, shown: Sequence[JsonObject], dialect: str) -> None:
        """Raise ValueError if the manifest omits passed examples because its template has no place for them."""
        examples = [one for tool in shown if self._own.get(tool["name"]) for one in tool["examples"]]
        if any(one["text"] not in text and one["written"] not in text for one in examples):
            raise ValueError(f"the manifest of {dialect!r} shows no examples: omit examples=, or give a template=")
