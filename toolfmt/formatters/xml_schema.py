"""A tool's schema as XML, for prompts whose calls are XML.

    <tool name="search" description="Search.">
        <arguments>
            <arg name="query" type="string" description="Words." required="true" minLength="1" />
            <arg name="tags" type="array" required="false">
                <items type="string" />
            </arg>
        </arguments>
    </tool>

Objects contain `<arg>`, lists `<items>`. Further elements are `<any_of>` with an `<option>` each, `<additional>` for
undeclared members, `<contains>`, and `<when has="other">`. A recursive schema gets a name in `definition` and is named
in `ref` inside itself. Constraints are attributes with their names in JSON Schema. `enum_values` are separated by
commas, or a JSON list if that would be ambiguous.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

from lxml import etree

from toolfmt.errors import SchemaError, UnrepresentableError
from toolfmt.formatters.flat_schema import Flat, flatten, objects, subschema, without_null
from toolfmt.formatters.json_schemas import parameters_object
from toolfmt.model import JsonObject, JsonValue, ToolDefinition
from toolfmt.schema.places import kind_of
from toolfmt.schema.spelling import type_list
from toolfmt.schema.walk import as_object, names

if TYPE_CHECKING:
    from lxml.etree import _Element as Element  # pyright: ignore[reportPrivateUsage] - it has no public name

_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CONSTRAINTS: Final = (
    *("const", "format", "pattern", "minLength", "maxLength", "contentEncoding", "contentMediaType"),
    *("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"),
    *("minItems", "maxItems", "uniqueItems", "minContains", "maxContains"),
    *("minProperties", "maxProperties", "propertyNames", "dependentRequired"),
    *("not", "examples", "deprecated", "readOnly"),
)
_MOST: Final = 20_000
"""The largest number of elements for one tool."""
_XML_TYPES: Final = {"number": "float"}


def xml_schema(tool: ToolDefinition) -> str:
    """Write a tool as XML, which is well-formed for any data.

    Characters that XML cannot represent become U+FFFD in descriptions and raise `UnrepresentableError` in names.
    Raises `SchemaError` for a schema that cannot be read.
    """
    schema = parameters_object(tool)
    element = etree.Element("tool")
    element.set("name", _name(tool.name, "/name"))
    element.set("description", _prose(tool.description))
    arguments = etree.Element("arguments")
    writer = _Writer(schema)
    flat = flatten(schema, schema)
    _ = flat.own.pop("additionalProperties") if flat.own.get("additionalProperties") is False else None
    writer.constraints(arguments, flat.own)
    try:
        writer.children(arguments, flat, flat.references)
    except SchemaError as error:
        raise type(error)(f"the schema of tool {tool.name!r}: {error}") from None
    if len(arguments) or arguments.attrib:
        element.append(arguments)
    else:
        element.append(etree.Comment(" This tool takes no arguments "))
    etree.indent(element, space="    ")
    # `>` is escaped in attributes, so this ends an empty element.
    return etree.tostring(element, encoding="unicode").replace("/>", " />")


class _Writer:
    def __init__(self, root: JsonObject) -> None:
        self.root = root
        self.room = _MOST

    def node(  # noqa: PLR0913 - an element's facts
        self,
        parent: Element,
        tag: str,
        schema: JsonValue,
        above: tuple[str, ...],
        attributes: Mapping[str, str],
        *,
        required: bool | None = None,
    ) -> None:
        """Write a node of the schema as an element."""
        self.room -= 1
        if self.room < 0:
            raise SchemaError(f"its references unfold to more than {_MOST:,} elements")
        element = etree.SubElement(parent, tag, dict(attributes))
        flat = self.simplified(flatten(subschema(schema), self.root))
        own = flat.own
        element.set("type", _text(_type(flat.own) or self.alternatives(flat) or "any"))
        if own.get("description"):
            element.set("description", _prose(str(own["description"])))
        if required is not None:
            element.set("required", "true" if required else "false")
        if "default" in own:
            element.set("default", _text(own["default"]))
        if isinstance(own.get("enum"), list):
            element.set("enum_values", _enum(own["enum"]))
        self.constraints(element, own)
        recursive = [reference for reference in flat.references if reference in above]
        if recursive:
            element.set("ref", _definition(recursive[0]))
            return
        if flat.references:
            element.set("definition", _definition(flat.references[0]))
        self.children(element, flat, (*above, *flat.references))

    def alternatives(self, flat: Flat) -> str:
        """Return the types of the alternatives if all are known."""
        types = [[_type(flatten(branch, self.root).own) for branch in choice] for choice in flat.choices[:1]]
        return "|".join(dict.fromkeys(types[0])) if types and all(types[0]) else ""

    def constraints(self, element: Element, own: JsonObject) -> None:
        """Write the constraints of a value as attributes."""
        for key in _CONSTRAINTS:
            if key in own:
                element.set(key, _text(own[key]))
        for key in ("items", "additionalProperties"):
            if own.get(key) is False:
                element.set(key, "false")

    def children(self, element: Element, flat: Flat, above: tuple[str, ...]) -> None:
        """Write the children of a value."""
        own = flat.own
        required = names(own.get("required"))
        for name, schema in as_object(own.get("properties")).items():
            if schema is not False:
                attributes = {"name": _name(name, f"/properties/{name}")}
                self.node(element, "arg", schema, above, attributes, required=name in required)
        for pattern, schema in as_object(own.get("patternProperties")).items():
            self.node(element, "additional", schema, above, {"names": _text(pattern)})
        for position, schema in enumerate(objects(own.get("prefixItems")) + objects(own.get("items")), start=1):
            self.node(element, "items", schema, above, {"position": str(position)})
        for tag, key in (("items", "items"), ("contains", "contains"), ("additional", "additionalProperties")):
            if isinstance(own.get(key), dict):
                self.node(element, tag, own[key], above, {})
        for choice in flat.choices:
            group = etree.SubElement(element, "any_of")
            for option in choice:
                self.node(group, "option", option, above, {})
        for name, schema in flat.dependents.items():
            self.node(element, "when", schema, above, {"has": _name(name, f"/dependentSchemas/{name}")})

    def simplified(self, flat: Flat) -> Flat:
        """Merge alternatives that differ only in type, or that are only null, into `type`."""
        if len(flat.choices) != 1:
            return flat
        branches = [flatten(branch, self.root) for branch in flat.choices[0]]
        plain = all(branch.own.keys() <= {"type", "title"} and not branch.references for branch in branches)
        if plain and not any(branch.choices for branch in branches):
            types = [kind for branch in branches for kind in type_list(branch.own)]
            complete = all("type" in branch.own for branch in branches) and "type" not in flat.own
            return flat._replace(own={**flat.own, "type": types}, choices=[]) if complete else flat
        return without_null(flat, self.root)


def _type(own: JsonObject) -> str:
    """Name the types, separated by `|`, "" if unknown; a string with listed values is an `enum`."""
    kinds = type_list(own)
    members = own.get("enum")
    if isinstance(members, list):
        found = dict.fromkeys(kind_of(member) for member in cast("list[JsonValue]", members))
        kinds = ["enum" if kind == "string" else kind for kind in kinds or found]
    elif not kinds and "const" in own:
        kinds = [kind_of(own["const"])]
    elif not kinds:
        kinds = ["object"] if "properties" in own else ["array"] if "items" in own else []
    return "|".join(_XML_TYPES.get(kind, kind) for kind in kinds)


def _enum(members: Sequence[JsonValue]) -> str:
    plain = all(isinstance(member, str) and re.fullmatch(r"[^\s,\[\"](?:[^,]*[^\s,])?", member) for member in members)
    return ",".join(members) if plain and not any(map(_NOT_XML.search, members)) else _json(members)


def _definition(reference: str) -> str:
    return _text(reference.rpartition("/")[2])


def _text(value: JsonValue) -> str:
    """Write a value as an attribute: text unchanged if XML can represent it, anything else as JSON."""
    return value if isinstance(value, str) and not _NOT_XML.search(value) else _json(value)


def _json(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return json.dumps(value) if _NOT_XML.search(text) else text


def _prose(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


def _name(name: str, pointer: str) -> str:
    found = _NOT_XML.search(name)
    if found:
        raise UnrepresentableError("XML", pointer, f"a name cannot hold the character {found.group()!r}")
    return name
