"""A tool from Python code: a function's signature and docstring, or a class that pydantic understands.

Docstrings are read in the three common styles: Google (`Args:`), NumPy (`Parameters` underlined), Sphinx
(`:param name:`).
"""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import re
from collections.abc import Iterable, Iterator
from inspect import cleandoc
from typing import Annotated, Any, Final, NamedTuple

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticSerializationError, PydanticUndefined, to_jsonable_python

from toolfmt.errors import SchemaError
from toolfmt.model import JsonObject, ToolDefinition
from toolfmt.tools.signature import Function, check_names, plain_function, signature

_DESCRIBED: Final = ("__get_pydantic_core_schema__", "__dataclass_fields__", "__required_keys__", "_fields")
"""What a pydantic model, a dataclass, a TypedDict or a named tuple has, and no other class."""


class _Plain(GenerateJsonSchema):
    """Pydantic's schemas without the titles it makes up, keys in the order in which people write them."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        """Leave out titles that only repeat the name."""
        return False

    def sort(self, value: Any, parent_key: str | None = None) -> Any:  # noqa: ARG002 - as above
        """Keep the order."""
        return value


def from_function(function: Function, name: str | None = None) -> ToolDefinition:
    """Describe a function, sync or async; its schema is built on first use.

    Raises `SchemaError` for parameters that can't be given by name; on first
    use of `parameters`, for type hints that have no JSON form.
    """
    name = name or getattr(function, "__name__", None)
    if not name or name == "<lambda>":
        raise SchemaError(f"{function!r} has no name; give the tool one with name=")
    check_names(function, name)
    documentation = read_docstring(inspect.getdoc(plain_function(function)))
    return ToolDefinition(
        name=name,
        description=documentation.description,
        parameters=functools.partial(_function_schema, function, name, documentation),
    )


def from_class(cls: type, name: str | None = None) -> ToolDefinition:
    """Describe a pydantic model, dataclass or TypedDict, whose fields are the arguments.

    The schema is built on first use; raises `SchemaError` then for fields that
    have no JSON form, and at once for any other class.
    """
    name = name or cls.__name__
    if not any(hasattr(cls, mark) for mark in _DESCRIBED):
        raise SchemaError(
            f"{name} is a class without described fields: give a function, a pydantic model, a dataclass or a TypedDict"
        )
    text = cls.__doc__ or ""
    # A dataclass without a docstring has its signature there.
    documentation = read_docstring("" if text.startswith(f"{cls.__name__}(") else text)
    return ToolDefinition(
        name=name,
        description=documentation.description,
        parameters=functools.partial(_class_schema, cls, name, documentation),
    )


def _function_schema(function: Function, name: str, documentation: Documentation) -> JsonObject:
    taken = signature(function, name)
    adapters: dict[str, TypeAdapter[Any]] = {}
    defaults: dict[str, Any] = {}
    schema: JsonObject = {"type": "object", "properties": {}}
    for parameter in taken.parameters:
        if parameter.injected is not None:
            continue
        hint, default = parameter.hint, parameter.default
        if isinstance(default, FieldInfo):
            hint, default = Annotated[hint, default], default.get_default(call_default_factory=False)
        if not parameter.required:
            defaults[parameter.name] = default
        adapters[parameter.name] = _adapter(hint, f"the parameter {parameter.name!r} of tool {name!r}")
    by_key, shared = TypeAdapter.json_schemas(
        ((key, "validation", adapter) for key, adapter in adapters.items()), schema_generator=_Plain
    )
    for key in adapters:
        schema["properties"][key] = _described(dict(by_key[key, "validation"]), key, documentation)
        if key in defaults and defaults[key] is not PydanticUndefined:  # made anew for each call
            with contextlib.suppress(PydanticSerializationError):  # not something a model could be shown
                schema["properties"][key]["default"] = to_jsonable_python(defaults[key])
    if required := [key for key in adapters if key not in defaults]:
        schema["required"] = required
    if not taken.open:
        schema["additionalProperties"] = False
    return _with_definitions(schema, shared.get("$defs"))


def _class_schema(cls: type, name: str, documentation: Documentation) -> JsonObject:
    schema = _adapter(cls, f"tool {name!r}").json_schema(schema_generator=_Plain)
    definitions = schema.pop("$defs", {})
    if "$ref" in schema:  # a class that refers to itself; the root must still say that it is an object
        schema = copy.deepcopy(definitions[schema["$ref"].rpartition("/")[2]])
    if schema.get("type") != "object":
        raise SchemaError(f"tool {name!r}: arguments are an object, and {cls!r} is not")
    if schema.get("title") == cls.__name__:
        del schema["title"]
    schema.pop("description", None)  # the tool's own description says it
    for key, value in schema.get("properties", {}).items():
        _described(value, key, documentation)
    return _with_definitions(schema, definitions)


def _adapter(hint: Any, what: str) -> TypeAdapter[Any]:
    try:
        adapter = TypeAdapter[Any](hint)
        adapter.json_schema(schema_generator=_Plain)
    except PydanticUserError:
        raise SchemaError(f"{what} is of type {hint!r}, which has no JSON Schema") from None
    return adapter


def _described(schema: JsonObject, key: str, documentation: Documentation) -> JsonObject:
    if key in documentation.parameters:
        schema.setdefault("description", documentation.parameters[key])
    return schema


def _with_definitions(schema: JsonObject, definitions: JsonObject | None) -> JsonObject:
    """Put the definitions last, without the titles that only repeat their names."""
    for key, definition in (definitions or {}).items():
        if definition.get("title") == key:
            del definition["title"]
    return {**schema, "$defs": definitions} if definitions else schema


_PARAMETERS: Final = frozenset(
    {"args", "arguments", "attributes", "keyword args", "keyword arguments", "other parameters", "parameters", "params"}
)
_RESULTS: Final = frozenset({"return", "returns", "raise", "raises", "yield", "yields", "warns"})
_GOOGLE_HEADER = re.compile(r"([A-Za-z][A-Za-z ]{0,24}):\s*")
_UNDERLINE = re.compile(r"-{3,}\s*")
_GOOGLE_ENTRY = re.compile(r"\*{0,2}(?P<names>\w+)\s*(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?\s*:(?!:)\s*(?P<text>.*)")
_NUMPY_ENTRY = re.compile(r"(?P<names>\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?(?P<text>)")
_SPHINX_FIELD = re.compile(
    r":(?:(?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*\s)?\*{0,2}(?P<name>\w+)"
    r"|(?:type|returns?|rtype|raises?|except|exception|yields?|ytype)(?:\s+[^:]*)?):\s*(?P<text>.*)"
)


class Documentation(NamedTuple):
    """The description of a function, and those of its parameters."""

    description: str
    parameters: dict[str, str]


class _Section(NamedTuple):
    header: str
    """The section's title in lower case; empty for text without one."""
    style: re.Pattern[str]
    lines: list[str]
    """With the header's own lines."""
    body: int
    """The index of the first line after the header."""


def read_docstring(docstring: str | None) -> Documentation:
    """Split a docstring: sections on results are dropped, those on parameters read, all else is description."""
    described: list[str] = []
    parameters: dict[str, str] = {}
    for section in _sections(_without_fields(cleandoc(docstring or "").splitlines(), parameters)):
        if section.header in _PARAMETERS:
            parameters.update(_entries(section.lines[section.body :], section.style))
        elif section.header not in _RESULTS:
            described += section.lines
    return Documentation("\n".join(described).strip(), parameters)


def _sections(lines: Iterable[str]) -> Iterator[_Section]:
    section = _Section("", _GOOGLE_ENTRY, [], 0)
    for line in lines:
        google = _GOOGLE_HEADER.fullmatch(line)
        if google and google[1].lower() in _PARAMETERS | _RESULTS:
            yield section
            section = _Section(google[1].lower(), _GOOGLE_ENTRY, [line], 1)
        elif _UNDERLINE.fullmatch(line) and section.lines and section.lines[-1].strip():
            title = section.lines.pop()
            yield section
            section = _Section(title.strip().lower(), _NUMPY_ENTRY, [title, line], 2)
        elif section.header and section.style is _GOOGLE_ENTRY and line[:1].strip():
            # A line at the margin ends a Google section.
            yield section
            section = _Section("", _GOOGLE_ENTRY, [line], 0)
        else:
            section.lines.append(line)
    yield section


def _entries(lines: list[str], style: re.Pattern[str]) -> dict[str, str]:
    """Read `name: text` with indented lines that continue it."""
    found: dict[str, str] = {}
    margin = next((_indent(line) for line in lines if line.strip()), 0)
    names: list[str] = []
    for line in lines:
        entry = style.fullmatch(line.strip()) if line.strip() and _indent(line) <= margin else None
        if entry:
            names = [name.strip().lstrip("*") for name in entry["names"].split(",")]
        for name in names:
            found[name] = f"{found.get(name, '')} {entry['text'] if entry else line.strip()}".strip()
    return {name: text for name, text in found.items() if text}


def _without_fields(lines: list[str], parameters: dict[str, str]) -> Iterator[str]:
    """Take out Sphinx fields and the lines that continue them; those of parameters go into `parameters`."""
    inside, name = False, None
    for line in lines:
        field = _SPHINX_FIELD.fullmatch(line)
        if field:
            inside, name = True, field["name"]
        elif line[:1].strip():
            inside = False  # text at the margin ends a field
        if not inside:
            yield line
        elif name:
            text = field["text"] if field else line.strip()
            parameters[name] = f"{parameters.get(name, '')} {text}".strip()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
