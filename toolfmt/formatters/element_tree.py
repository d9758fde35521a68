"""Arguments written as nested elements.

    <arg name="tags">
        <item>x</item>
    </arg>

A value's type is written only if the tool's schema does not determine it.
"""

from __future__ import annotations

import re

import regex

from toolfmt import jsontext
from toolfmt.dialect.syntax import TAG_NAME, Elements
from toolfmt.errors import UnrepresentableError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema import chosen, coerce, depends, item_schema, kind_of, property_schema, types

_TAG_NAME = regex.compile(TAG_NAME)
_STRING = frozenset({"string"})


def member_template(elements: Elements, key: str | None) -> tuple[str, str]:
    """Return the template of a member, or of an item without a key, and the key as it is written.

    The template is "" for a key that is no name of a tag where the dialect has no other form.
    """
    if key is None:
        return elements.item, ""
    if elements.keyed_by_tag and (not _TAG_NAME.fullmatch(key) or key == elements.item_tag):
        return elements.odd_member, escape_slot(key)
    return elements.member, key if elements.keyed_by_tag or elements.escape == "none" else escape_slot(key)


class ElementWriter:
    """Writes the arguments of one call."""

    def __init__(self, elements: Elements) -> None:
        self.elements = elements

    def arguments(self, arguments: JsonObject, schema: JsonObject | None) -> str:
        """Write all arguments, inside the wrapper if the dialect has one."""
        indent, wrapper = self.elements.indent, self.elements.wrapper
        if schema and depends(schema):
            schema = chosen(schema, arguments)
        level = 2 if wrapper else 1
        end = self.elements.separator
        inner = "".join(
            f"{indent * level}{self._child(key, value, property_schema(schema, key) if schema else None, level)}{end}"
            for key, value in arguments.items()
        )
        if not wrapper:
            return inner
        if not inner:
            return f"{indent}<{wrapper}></{wrapper}>\n"
        return f"{indent}<{wrapper}>\n{inner}{indent}</{wrapper}>\n"

    def _child(self, key: str | None, value: JsonValue, schema: JsonObject | None, level: int) -> str:
        elements = self.elements
        template, key = member_template(elements, key)
        template = template or elements.member
        text = self._content(value, schema, level)
        if "\n{value}" in template and not isinstance(value, str):
            text = text.strip("\n")  # the template writes the line breaks
        kind = "" if self._implies_type(value, schema) else kind_of(value)
        if kind == "string" and "{type}" not in template and "{string}" not in template:
            text = jsontext.dumps(value)  # in quotes it is a string where the schema allows other types too
            kind = "" if jsontext.equal(coerce(text, schema)[0], value) else kind
            text = escape_text(text) if elements.escape == "xml" else text
        if kind and elements.escape == "xml" and "{type}" not in template:
            raise UnrepresentableError("", "", f"the tool's schema does not determine the type {kind} of a value")
        if kind == "" and not elements.typed:
            template = re.sub(r"\{\?(?!.*\{string\}).*?\?\}", "", template)
        kind = elements.type_names.get(kind_of(value), kind_of(value))
        template = template.replace("{?", "").replace("?}", "").replace("{type}", kind)
        template = template.replace("{string}", "true" if isinstance(value, str) else "false")
        head, _, tail = template.partition("{value}")
        return head.replace("{key}", key) + text + tail.replace("{key}", key)

    def _content(self, value: JsonValue, schema: JsonObject | None, level: int) -> str:
        pad = self.elements.indent * (level + 1)
        if not self.elements.item and not isinstance(value, str):
            text = jsontext.dumps(value)
            return escape_text(text) if self.elements.escape == "xml" else text
        if is_object(value) and value:
            children = [
                self._child(key, inner, property_schema(schema, key) if schema else None, level + 1)
                for key, inner in value.items()
            ]
        elif is_array(value) and value:
            children = [
                self._child(None, inner, item_schema(schema, at) if schema else None, level + 1)
                for at, inner in enumerate(value)
            ]
        elif isinstance(value, dict | list):
            return ""
        else:
            return self._text(value)
        if not self.elements.separator:
            return "".join(children)
        return "".join(f"\n{pad}{child}" for child in children) + "\n" + self.elements.indent * level

    def _text(self, value: JsonValue) -> str:
        if not isinstance(value, str):
            return jsontext.dumps(value)
        jsontext.dumps(value)  # raises for text that JSON cannot hold
        if self.elements.escape != "xml":
            return value
        opens_quote = any(value.lstrip().startswith(opener) for opener, _ in self.elements.quotes)
        if (value and not value.strip()) or opens_quote or any(char in value for char in self.elements.quoted):
            return self._quoted(value)
        return escape_text(value)

    def _quoted(self, value: str) -> str:
        if not self.elements.quotes:
            raise UnrepresentableError("", "", "text that is only white space would be read as layout")
        opener, closer = self.elements.quotes[0]
        if (opener, closer) == CDATA:
            return cdata(value)
        if closer in value:
            raise UnrepresentableError("", "", f"text that contains {closer!r} cannot be quoted")
        return opener + value + closer

    def _implies_type(self, value: JsonValue, schema: JsonObject | None) -> bool:
        """Whether a reader that knows the schema reads the same value from the text."""
        allowed = types(schema)
        if allowed == _STRING and not isinstance(value, str):
            return False  # it is read as text
        if not self.elements.item and not isinstance(value, str):
            return jsontext.equal(coerce(jsontext.dumps(value), schema)[0], value)
        keyed = self.elements.keyed_by_tag
        lists = allowed is not None and "array" in allowed and "object" not in allowed
        if is_array(value) and value:
            return not keyed or lists or allowed is None
        if is_object(value) and value:
            return not lists and not (keyed and allowed is None and len(value) == 1)
        if isinstance(value, str):
            return allowed == _STRING or (
                jsontext.equal(coerce(value if value.strip() else "", schema)[0], value if value.strip() else "")
                and not (keyed and lists)
            )
        text = "" if isinstance(value, dict | list) else jsontext.dumps(value)
        return jsontext.equal(coerce(text, schema)[0], value)


_SPECIAL = re.compile(r"[&<>]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_SLOT_SPECIAL = re.compile(r"""[&<>{"'\n\r\t]|^\s|\s$""")


def escape_text(text: str) -> str:
    """Escape text between tags; line breaks and quotes stay as they are."""
    return _SPECIAL.sub(lambda found: _ENTITIES[found.group()], text)


def escape_slot(text: str) -> str:
    """Escape an attribute's value or a name, including outer spaces and line breaks."""
    return _SLOT_SPECIAL.sub(lambda found: _ENTITIES.get(found.group()) or f"&#{ord(found.group())};", text)


CDATA = ("<![CDATA[", "]]>")


def cdata(text: str) -> str:
    """Wrap text in CDATA; split `]]>` between two sections."""
    return "<![CDATA[" + text.replace("]]>", "]]]]><![CDATA[>") + "]]>"
