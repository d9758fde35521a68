"""How a format declares a function: one table reads and writes it; what is no function is the provider's own kind.

TOOLS = Declaring("anthropic", schema="input_schema", strict=True, marks=True)
TOOLS.read({"name": "f", "input_schema": {"type": "object"}, "type": "custom"})
ToolDeclaration("f", None, {"type": "object"}, extra={"anthropic.type": "custom"})
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from toolfmt import jsontext
from toolfmt.conversation import ToolChoice, ToolDeclaration
from toolfmt.errors import ParseError, UnsupportedSchemaError
from toolfmt.jsontext import is_array, is_object
from toolfmt.schema.lowering import lower, refusals
from toolfmt.transcripts.blocks import MARK
from toolfmt.transcripts.hosted import identity, read_hosted, write_hosted
from toolfmt.transcripts.request import ToolsPlace
from toolfmt.transcripts.values import located, own, rest, word

if TYPE_CHECKING:
    from toolfmt.conversation import Transcript
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.transcripts.blocks import Further
    from toolfmt.transcripts.format import Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaring:
    """The keys of a function's declaration; it has a `name` and may have a `description`."""

    owner: str
    schema: str = "parameters"
    typed: bool = False
    """A declaration says `"type": "function"`."""
    identity: Literal["name", "schema"] = "name"
    """The key that only a function has."""
    strict: bool = False
    """A declaration may say that the schema is strict."""
    marks: bool = False
    """A declaration may have a mark for the prompt cache."""
    further: tuple[Further, Callable[[JsonObject, Any], JsonObject]] | None = None
    """Takes what a declaration says beside, and puts it back."""
    bare: Literal["absent", "object", "any"] = "absent"
    """What is written where there is no schema: nothing, an object's schema, or one that anything fits."""

    def read(self, item: JsonValue) -> ToolDeclaration:
        """Read a declaration; raises ParseError, which begins with the key, where it is none."""
        if not is_object(item):
            raise ParseError(f": a tool is an object, not {type(item).__name__}")
        name = word(item, "name")
        foreign = self.typed and item.get("type", "function") != "function"
        if foreign or (not name if self.identity == "name" else self.schema not in item):
            return read_hosted(item, self.owner, name or word(item, "type") or word(item, "id"))
        if not name:
            raise ParseError("name: a tool has a name")
        description, strict = item.get("description"), item.get("strict")
        known = {"name", self.schema, *(("type",) if self.typed else ())}
        known |= {"description"} if isinstance(description, str | None) else set()
        known |= {"strict"} if self.strict and isinstance(strict, bool | None) else set()
        extra = rest(item, known, self.owner)
        if self.marks and MARK in item:
            extra[MARK] = extra.pop(f"{self.owner}.{MARK}")
        text = description if isinstance(description, str) else None
        strict = strict if "strict" in known else None
        tool = ToolDeclaration(name, text, item.get(self.schema), strict=strict, extra=extra)
        if self.further is not None:
            self.further[0](item, tool, frozenset(known))
        return tool

    def write(self, tool: ToolDeclaration) -> JsonObject | None:
        """Write a declaration; None where the API has no words for it."""
        if tool.kind == "hosted":
            return write_hosted(tool, self.owner)
        item: JsonObject = {"type": "function"} if self.typed else {}
        item["name"] = tool.name
        if tool.description is not None:
            item["description"] = tool.description
        if self.bare == "object":
            schema = tool.parameters if is_object(tool.parameters) else {}
            item[self.schema] = schema if "type" in schema else {"type": "object", **schema}
        elif self.bare == "any" or tool.parameters is not None:
            item[self.schema] = {} if tool.parameters is None else tool.parameters
        if self.strict and tool.strict is not None:
            item["strict"] = tool.strict
        if self.further is not None:
            return self.further[1](item, tool)
        item |= own(tool.extra, self.owner)
        return item | {MARK: tool.extra[MARK]} if self.marks and MARK in tool.extra else item

    def read_list(self, value: JsonValue) -> Sequence[ToolDeclaration]:
        """Read a list of declarations."""
        if not is_array(value):
            raise ParseError(f": expected a list, not {type(value).__name__}")
        tools: list[ToolDeclaration] = []
        for at, item in enumerate(value):
            try:
                tools.append(self.read(item))
            except ParseError as error:
                raise located(at, error) from None
        return tools

    def write_list(self, tools: Sequence[ToolDeclaration]) -> list[JsonValue]:
        """Write declarations; what the API has no words for is left out."""
        return [item for tool in tools if (item := self.write(tool)) is not None]

    def listed(self, key: str = "tools") -> ToolsPlace:
        """Make the place of a list of declarations."""
        return ToolsPlace(key, self.read_list, self.write_list)


def fitted(tools: Sequence[ToolDeclaration], rules: Rules, names: Callable[[str], str]) -> tuple[ToolDeclaration, ...]:
    """Fit declarations to what a format's provider accepts; its own kinds stay as they are.

    A declaration that asks for strictness which its schema can't have is sent without: a provider would refuse it. A
    schema that has no form at all stays as it is, and `check` says why it is refused.
    """
    return tuple(
        tool if tool.kind == "hosted" else _schema(_kind(_named(tool, names(tool.name)), rules), rules)
        for tool in tools
    )


def choosable(sent: Transcript, after: Transcript) -> Transcript:
    """Leave out of a request a choice of tools that the format has no words for, as `after` was read back.

    A request without tools says nothing of them: every provider refuses an empty list with a choice. A choice of
    which nothing is left allows no tool rather than all of them.
    """
    choice, tools = sent.tool_choice, sent.tools
    if tools is None or (after.tool_choice is None and after.parallel is None and (after.tools is None or not tools)):
        return sent
    found = {identity(tool) for tool in after.tools or ()}
    left = {tool.name for tool in tools if identity(tool) in found}
    if not left:
        return replace(sent, tools=None, tool_choice=None, parallel=None)
    if choice is None or left.issuperset(choice.names):
        return sent
    names = tuple(name for name in choice.names if name in left)
    narrowed = replace(choice, names=names) if names else ToolChoice("none") if choice.mode == "auto" else None
    return replace(sent, tool_choice=narrowed)


def _named(tool: ToolDeclaration, name: str) -> ToolDeclaration:
    return tool if tool.name == name else replace(tool, name=name)


def _kind(tool: ToolDeclaration, rules: Rules) -> ToolDeclaration:
    """Declare a tool for free text as a function of one text, which its grammar describes."""
    if tool.kind != "custom" or rules.custom_tools:
        return tool
    text: JsonObject = {"type": "string"}
    if tool.parameters is not None:
        text["description"] = jsontext.dumps(tool.parameters)
    schema = {"type": "object", "properties": {"input": text}, "required": ["input"]}
    return replace(tool, kind="function", parameters=schema)


def _schema(tool: ToolDeclaration, rules: Rules) -> ToolDeclaration:
    if tool.kind != "function" or tool.parameters is None:
        return tool
    stated, accepted = rules.schema_of(tool)
    if stated is not tool.parameters:
        # A copy has no source: it is written in the dialect that the format has for schemas of any origin.
        return tool if not any(refusals(stated, accepted)) else _schema(replace(tool), rules)
    try:
        schema = lower(stated, accepted)
    except UnsupportedSchemaError:
        return tool if accepted is rules.schema else _schema(replace(tool, strict=False), rules)
    return tool if schema is tool.parameters else replace(tool, parameters=schema)
