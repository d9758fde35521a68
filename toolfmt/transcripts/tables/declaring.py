"""Tables that read and write declarations of functions; other tools are the provider's own kinds.

TOOLS = Declaring(owner="anthropic", schema="input_schema", strict=True, marks="kept")
TOOLS.read({"name": "f", "input_schema": {"type": "object"}, "type": "custom"})
ToolDeclaration("f", None, {"type": "object"}, extra={"anthropic.type": "custom"})
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from toolfmt import jsontext
from toolfmt.conversation import ToolChoice, ToolDeclaration
from toolfmt.errors import ParseError, UnsupportedSchemaError
from toolfmt.jsontext import is_array, is_object
from toolfmt.schema.lowering import lower, refusals
from toolfmt.transcripts.parts.hosted import identity, read_hosted, write_hosted
from toolfmt.transcripts.parts.values import at, inside, located, own, put, rest, text_at, word
from toolfmt.transcripts.tables.blocks import MARK, marked
from toolfmt.transcripts.tables.request import ToolsPlace

if TYPE_CHECKING:
    from toolfmt.conversation import Transcript
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.transcripts.format import Rules
    from toolfmt.transcripts.tables.blocks import Further, Point


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaring:
    """Describes an API's declaration of a function: an object with a `name` and an optional `description`."""

    owner: str
    under: tuple[str, ...] = ("",)
    """The keys under which declarations are read; "": directly. The first is written, or `custom` for such a tool."""
    schema: str = "parameters"
    """The place of the schema."""
    custom: str = ""
    """The key of the input of a tool for free text; "": there are no such tools."""
    form: tuple[Callable[[JsonValue], JsonValue], Callable[[JsonValue], JsonValue]] | None = None
    """Reads and writes a schema, or a free-text tool's input, in the format's own spelling."""
    typed: bool = False
    """Whether a declaration states its kind: `"type": "function"`."""
    identity: Literal["name", "schema", "any"] = "name"
    """The key that only functions have; `any`: there are only functions."""
    description: Literal["given", "filled", "always"] = "given"
    """When a description is written: if given, also if empty, or always."""
    refuses: bool = False
    """Whether a description that is not text is refused; otherwise it is an extra field."""
    strict: bool = False
    """Whether a declaration may state that the schema is strict."""
    states_strict: bool = True
    """Whether strictness is also written."""
    marks: Literal["", "read", "kept"] = ""
    """Whether marks for the prompt cache beside declarations are read, or also written (`kept`)."""
    point: Point | None = None
    """How a mark after declarations is read and written."""
    further: tuple[Further, Callable[[JsonObject, Any], JsonObject]] | None = None
    """Reads a declaration's extra fields, and writes them back."""
    bare: JsonObject | None = None
    """The schema that is written for a tool without one; None writes nothing."""
    objects: bool = False
    """Whether a schema is always of an object."""
    nulls: bool = False
    """Whether a declaration always has a schema and a strictness, possibly null."""
    kept: bool = False
    """Whether an unchanged declaration is written as it was read."""
    hosted: Callable[[Any], ToolDeclaration] | None = None
    """Reads everything that is not a function; without it, values other than objects are refused."""
    spelled: Callable[[JsonObject], JsonObject] | None = None
    """Converts a declaration to the spelling of this table."""

    def read(self, item: JsonValue) -> ToolDeclaration:
        """Read a declaration; raises ParseError, whose text begins with the key, for anything else."""
        if is_object(item):
            tool = self._read(item if self.spelled is None else self.spelled(item))
        elif self.hosted is not None:
            tool = self.hosted(item)
        else:
            raise ParseError(f": a tool is an object, not {type(item).__name__}")
        if self.kept:
            tool.origin, tool.source = self.owner, item
        return tool

    def _read(self, item: JsonObject) -> ToolDeclaration:
        key = next((key for key in self.under if is_object(item.get(key))), "" if "" in self.under else None)
        body: JsonObject = item[key] if key else item
        kind = key or (item.get("type", "function") if self.typed else "function")
        name, place = word(body, "name"), self.custom if kind == "custom" and self.custom else self.schema
        foreign = key is None or (not key and kind not in ("function", "custom" if self.custom else ""))
        if foreign or not (key or {"name": name, "schema": place in item, "any": True}[self.identity]):
            found = name or word(item, "name") or word(item, "type") or word(item, "id")
            return read_hosted(item, self.owner, found) if self.hosted is None else self.hosted(item)
        if not name:
            raise ParseError("name: a tool has a name")
        description, strict = text_at(body, "description") if self.refuses else body.get("description"), None
        known = {"name", place.partition(".")[0], "" if key or not self.typed else "type"}
        known |= {"description"} if isinstance(description, str | None) else set()
        if self.strict and isinstance(body.get("strict"), bool | None):
            strict = body.get("strict")
            known.add("strict")
        extra = rest(body, known, f"{self.owner}.{key}") | rest(item, {"type", key}, self.owner) if key else None
        schema = at(body, place) if self.form is None else self.form[0](at(body, place))
        tool = ToolDeclaration(name, description if isinstance(description, str) else None, schema)
        tool.kind, tool.strict = "custom" if place == self.custom else "function", strict
        tool.extra = rest(body, known, self.owner) if extra is None else extra
        outer, _, key = place.partition(".")
        if key and is_object(holder := body.get(outer)):
            tool.extra |= inside(holder, {key}, self.owner, outer)
        if self.marks and MARK in item:
            tool.extra[MARK] = tool.extra.pop(f"{self.owner}.{MARK}")
        if self.further is not None:
            self.further[0](item, tool, frozenset(known))
        return tool

    def write(self, tool: ToolDeclaration) -> JsonObject | None:
        """Write a declaration; return None if the API cannot express it."""
        if self.kept and tool.origin == self.owner:
            return tool.source
        if tool.kind == "hosted":
            return write_hosted(tool, self.owner)
        free = tool.kind == "custom" and bool(self.custom)
        key = "custom" if free and self.under[0] else self.under[0]
        item: JsonObject = {"type": tool.kind} if self.typed else {}
        body: JsonObject = {} if key else item
        body["name"] = tool.name
        description = (tool.description or "") if self.description == "always" else tool.description
        if description or (description is not None and self.description != "filled"):
            body["description"] = description
        self._put_schema(tool, body, free=free)
        if self.strict and self.states_strict and (tool.strict is not None or (self.nulls and not free)):
            body["strict"] = tool.strict
        if self.further is not None:
            return self.further[1](item, tool)
        extra = own(tool.extra, self.owner)
        if key:
            item[key] = body | own(extra, key)
            extra = {name: found for name, found in extra.items() if "." not in name}
        item |= extra
        return item | {MARK: tool.extra[MARK]} if self.marks == "kept" and MARK in tool.extra else item

    def _put_schema(self, tool: ToolDeclaration, body: JsonObject, *, free: bool) -> None:
        schema = tool.parameters if self.form is None else self.form[1](tool.parameters)
        if self.objects and not free:
            given = schema if is_object(schema) else {}
            schema = given if "type" in given else {"type": "object", **given}
        elif schema is None and not free:
            schema = self.bare
        if schema is not None or (self.nulls and not free):
            put(body, self.custom if free else self.schema, schema)

    def read_list(self, value: JsonValue) -> Sequence[ToolDeclaration]:
        """Read a list of declarations."""
        if not is_array(value):
            raise ParseError(f": expected a list, not {type(value).__name__}")
        tools: list[ToolDeclaration] = []
        for number, item in enumerate(value):
            try:
                if self.point is None or not marked(tools[-1:], self.point[0](item)):
                    tools.append(self.read(item))
            except ParseError as error:
                raise located(f"/{number}", error) from None
        return tools

    def write_list(self, tools: Iterable[ToolDeclaration]) -> list[JsonValue]:
        """Write declarations; those that the API cannot express are left out."""
        items: list[JsonValue] = []
        for tool in tools:
            if (item := self.write(tool)) is not None:
                items.append(item)
                if self.point is not None and MARK in tool.extra:
                    items.append(self.point[1](tool.extra[MARK]))
        return items

    def listed(self, key: str = "tools") -> ToolsPlace:
        """Describe the place of a list of declarations."""
        return ToolsPlace(key, self.read_list, self.write_list)


def fitted(tools: Sequence[ToolDeclaration], rules: Rules, names: Callable[[str], str]) -> tuple[ToolDeclaration, ...]:
    """Fit declarations to what a format's provider accepts; its own kinds stay as they are.

    A declaration whose schema cannot be strict is sent as not strict, because a provider would refuse it. A
    schema that cannot be expressed stays unchanged, and `check` reports why it is refused.
    """
    return tuple(
        tool if tool.kind == "hosted" else _schema(_kind(tool, names(tool.name), rules), rules) for tool in tools
    )


def choosable(sent: Transcript, after: Transcript) -> Transcript:
    """Leave out a choice of tools that the format cannot express, judged by `after`, the read-back.

    A request without tools has no choice either: every provider refuses an empty list with a choice. A choice of
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


def _kind(tool: ToolDeclaration, name: str, rules: Rules) -> ToolDeclaration:
    """Name a tool, and declare one for free text as a function with one text argument, described by its grammar."""
    tool = tool if tool.name == name else replace(tool, name=name)
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
        # A copy without a source is written in the format's dialect for foreign schemas.
        return tool if not any(refusals(stated, accepted)) else _schema(replace(tool), rules)
    try:
        schema = lower(stated, accepted)
    except UnsupportedSchemaError:
        return tool if accepted is rules.schema else _schema(replace(tool, strict=False), rules)
    return tool if schema is tool.parameters else replace(tool, parameters=schema)
