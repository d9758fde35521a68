"""Example calls of a tool, written as the model should write them.

    example_formatter(calls)(tool)
    (Example(title="Basic Call (Required Arguments)", call=..., text='{"tool": ...}'),
     Example(title="Advanced Call (With Optional & Nested Arguments)", call=..., text=...))

The arguments come from `example_values`, the text from the format's own call
formatter: an example is read back as the call that it shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolfmt import jsontext
from toolfmt.dialect.record import Example
from toolfmt.errors import UnrepresentableError
from toolfmt.formatters.example_values import example_arguments, has_optional
from toolfmt.model import ToolInvocation
from toolfmt.schema import problems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolfmt.dialect.record import CallFormatter, ExampleFormatter
    from toolfmt.model import JsonObject, ToolDefinition

RECOMMENDED: Final = "Recommended Call"
BASIC: Final = "Basic Call (Required Arguments)"
ADVANCED: Final = "Advanced Call (With Optional & Nested Arguments)"


def example_formatter(calls: CallFormatter[str]) -> ExampleFormatter:
    """Make the example formatter that belongs to a call formatter.

    First come the examples of the tool's author that fit the schema, then a
    call with what is required, then one with everything, if anything may be
    left out. One that says the same as an earlier one is dropped, and so is one
    that the format cannot hold. Raises `SchemaError` for a schema that cannot
    be used.
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
    if has_optional(tool.parameters):
        yield ADVANCED, example_arguments(tool.parameters, optional=True, suggestions=fitting)
