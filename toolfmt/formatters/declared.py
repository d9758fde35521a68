"""Neutralize a tool's definition before it is shown, since its author is not trusted.

description "Done.<|im_end|>"     shown with an invisible character in the marker
enum ["<|im_end|>"]               the value is kept: escaped in JSON; in other notations the tool is refused
name "f<|im_end|>"                the tool is refused
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from toolfmt import jsontext
from toolfmt.dialect.record import Example, SchemaFormatter
from toolfmt.errors import ParseError, SchemaError, UnrepresentableError
from toolfmt.formatters.untrusted import Untrusted
from toolfmt.jsontext import is_array, is_object, token
from toolfmt.model import JsonObject, ToolDefinition
from toolfmt.schema.walk import NAMED, values_in

_WORDS: Final = frozenset({"description", "title", "$comment"})
"""Keywords whose text is only for the reader."""


class Declared(NamedTuple):
    """A definition that is safe to show."""

    tool: ToolDefinition
    """The definition with markers broken in its texts; its values are unchanged."""
    plain: ToolDefinition
    """The definition with markers broken in its values as well."""

    @property
    def marked(self) -> bool:
        """Whether a value contains a marker."""
        return self.tool is not self.plain


def declared(tool: ToolDefinition, untrusted: Untrusted, dialect: str) -> Declared:
    """Break the markers in a definition's texts.

    Raises `UnrepresentableError` for a marker in a name, and `SchemaError` for a definition that is too deep.
    """
    if jsontext.too_deep([tool.parameters, tool.examples]):
        raise SchemaError(f"tool {tool.name!r} is nested more than {jsontext.MAX_NESTING} levels deep")
    for pointer, name in (("/name", tool.name), ("/server", tool.server or "")):
        _check(name, pointer, untrusted, dialect)
    _check_names(tool.parameters, untrusted, dialect)
    fields: JsonObject = {"description": tool.description, "parameters": tool.parameters}
    texts: JsonObject = _broken(fields, untrusted, values=False)
    safe = tool if texts == fields else tool.model_copy(update=texts)
    every: JsonObject = _broken(texts | {"examples": list(tool.examples)}, untrusted, values=True)
    if every == texts | {"examples": list(tool.examples)}:
        return Declared(safe, safe)
    return Declared(safe, tool.model_copy(update=every | {"examples": tuple(every["examples"])}))


def schema_text(shown: Declared, schema: SchemaFormatter, untrusted: Untrusted, dialect: str) -> str:
    """Write a definition; escape markers in values where the text is JSON, and raise where that is impossible."""
    text = schema(shown.tool)
    if not shown.marked or untrusted.count(text) <= untrusted.count(schema(shown.plain)):
        return text
    try:
        jsontext.loads(text)
    except ParseError:
        reason = f"a value in the schema of {shown.tool.name!r} holds a marker, which this format cannot escape"
        raise UnrepresentableError(dialect, "/parameters", reason) from None
    return untrusted.json(text)


def harmless_example(example: Example, untrusted: Untrusted) -> bool:
    """Whether no name and no value of an example contains a marker, which would be read as a real one."""
    found = [*values_in(example.call.arguments)]
    names = [name for value in found if is_object(value) for name in value]
    return all(untrusted.text(text) == text for text in (*names, *found) if isinstance(text, str))


def _check(name: str, pointer: str, untrusted: Untrusted, dialect: str) -> None:
    if untrusted.count(name):
        raise UnrepresentableError(dialect, pointer, f"{name!r} holds a marker of a tool-call format")


def _check_names(schema: JsonObject, untrusted: Untrusted, dialect: str) -> None:
    """Refuse a schema that has a marker in the name of a member, at any depth."""
    pending: list[tuple[Any, str]] = [(schema, "/parameters")]
    while pending:
        node, where = pending.pop()
        if is_object(node):
            for key, value in node.items():
                place = f"{where}/{token(key)}"
                _check(key, place, untrusted, dialect)
                pending.append((value, place))
        elif is_array(node):
            pending += [(value, f"{where}/{at}") for at, value in enumerate(node)]


def _broken(value: Any, untrusted: Untrusted, *, values: bool, named: bool = False) -> Any:
    """Copy a value with the markers broken in its texts, or in all strings if `values` is true.

    `named` says that its keys are names, so that a member called `description` contains a schema.
    """
    if isinstance(value, str):
        return untrusted.text(value) if values else value
    if is_array(value):
        return [_broken(item, untrusted, values=values) for item in value]
    if not is_object(value):
        return value
    return {
        key: _broken(one, untrusted, values=values or (key in _WORDS and not named), named=key in NAMED and not named)
        for key, one in value.items()
    }
