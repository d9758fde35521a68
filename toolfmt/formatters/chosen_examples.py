"""The examples that a manifest shows: a number for each tool, or the caller's own.

manifest(tools, examples=1)
manifest(tools, examples={"get_weather": [{"city": "Paris", "days": 2}]})
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from toolfmt import jsontext
from toolfmt.dialect.record import Example
from toolfmt.errors import ArgumentsError, UnknownToolError, UnrepresentableError
from toolfmt.model import JsonObject, ToolDefinition
from toolfmt.schema import problems

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
