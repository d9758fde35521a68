"""The shapes in which providers write a tool as JSON, recognised by their keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any, Final, NamedTuple, TypeAlias, cast

from toolfmt import jsontext
from toolfmt.errors import SchemaError, UnrepresentableError, shown
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, ToolDefinition
from toolfmt.schema import normalise
from toolfmt.schema.mistakes import check_spelling
from toolfmt.schema.work import SchemaWork

ReadEach: TypeAlias = Callable[[Iterable[Any], str], "tuple[Found, ...]"]

_WRAPPERS: Final = ("tools", "functions", "function_declarations", "functionDeclarations")
_SCHEMA_KEYS: Final = ("parametersJsonSchema", "parameters_json_schema", "input_schema", "inputSchema", "parameters")
"""Where a shape keeps the arguments' schema."""
_EXAMPLE_KEYS: Final = ("examples", "input_examples")
_FUNCTION_TYPES: Final = frozenset({"function", "custom"})
_READ: Final = frozenset({"name", "description", "type", "server", "metadata", *_SCHEMA_KEYS, *_EXAMPLE_KEYS})


_UNREAD: Final = frozenset({"output_schema", "outputSchema", "response", "responses", "returns", "title"})
"""Keys of providers and data sets that are kept as metadata, and come close to one that is read."""
_SCHEMA_WORDS: Final = frozenset({"args", "arguments", "input", "inputs", "params", "properties", "schema"})
"""What the schema's key is taken for."""
_CLOSE: Final = 0.8


class Found(NamedTuple):
    """A tool that was read, and the function that runs it where the tool came from one."""

    definition: ToolDefinition
    function: Callable[..., Any] | None = None


def read_object(value: JsonObject, where: str, read_each: ReadEach) -> tuple[Found, ...]:
    """Read a JSON object that is a tool or a wrapper around several; `read_each` reads what is in a wrapper."""
    for fits, read in _SHAPES:
        if fits(value):
            return read(value, where, read_each)
    keys = f"the keys {', '.join(map(shown, value))}" if value else "no keys"
    by_name = value and all(is_object(one) and ("properties" in one or "type" in one) for one in value.values())
    advice = ": give [{'name': name, 'parameters': schema}, ...]" if by_name else ""
    raise SchemaError(f"{where or 'the tool'}: a tool has a 'name'; found {keys}{advice}")


def _read_wrapper(value: JsonObject, where: str, read_each: ReadEach) -> tuple[Found, ...]:
    return tuple(
        found
        for key in _WRAPPERS
        if isinstance(value.get(key), list)
        for found in read_each(value[key], f"{where}.{key}" if where else key)
    )


def _read_nested(value: JsonObject, where: str, _: ReadEach) -> tuple[Found, ...]:
    """`{"type": "function", "function": {…}}`, as in OpenAI's chat API and most others."""
    rest = {key: item for key, item in value.items() if key not in {"type", "function"}}
    return (Found(_definition({**rest, **value["function"]}, where)),)


def _read_bedrock(value: JsonObject, where: str, _: ReadEach) -> tuple[Found, ...]:
    """`{"toolSpec": {"name", "description", "inputSchema": {"json": …}}}`."""
    spec: JsonObject = dict(value["toolSpec"])
    schema = spec.get("inputSchema")
    return (Found(_definition({**spec, "inputSchema": schema.get("json") if is_object(schema) else schema}, where)),)


def _read_provided(value: JsonObject, where: str, _: ReadEach) -> tuple[Found, ...]:
    if "properties" in value:
        raise SchemaError(f"{where or 'the tool'}: this is a JSON Schema; put it under 'parameters', beside a 'name'")
    raise SchemaError(f"{where or 'the tool'}: a tool of type {value['type']!r} is the provider's own, not a function")


def _read_flat(value: JsonObject, where: str, _: ReadEach) -> tuple[Found, ...]:
    """Everything beside the name: OpenAI Responses, Anthropic, Gemini, MCP, BFCL, plain."""
    return (Found(_definition(value, where)),)


def _definition(value: JsonObject, where: str) -> ToolDefinition:
    name = value.get("name")
    if not isinstance(name, str) or not name.strip():
        raise SchemaError(f"{where or 'the tool'}: 'name' must be a non-empty string, not {name!r}")
    place = f"{where} ({name!r})" if where else f"tool {name!r}"
    description = value.get("description")
    if not isinstance(description, (str, type(None))):
        raise SchemaError(f"{place}: 'description' must be a string, not {description!r}")
    keys = [key for key in _SCHEMA_KEYS if value.get(key) is not None]
    key = keys[0] if keys else None
    if other := next((other for other in keys[1:] if value[other] != value[keys[0]]), None):
        raise SchemaError(f"{place}: {key!r} and {other!r} hold different schemas: leave one of the two out")
    _refuse_misspelt(value, place, named=key is not None)
    given: JsonObject = {"parameters": _parameters(value[key], f"{place}: {key!r}")} if key else {}
    leftover = {key: item for key, item in value.items() if key not in _READ}
    for key in _EXAMPLE_KEYS:
        if _are_objects(value.get(key)):
            given["examples"] = tuple(value[key])
        elif key in value:
            leftover[key] = value[key]
    if isinstance(value.get("server"), str):
        given["server"] = value["server"]
    metadata = value.get("metadata")
    given["metadata"] = {**(metadata if is_object(metadata) else {}), **leftover}
    return ToolDefinition(name=name, description=description or "", **given)


def _refuse_misspelt(value: JsonObject, place: str, *, named: bool) -> None:
    """Raise `SchemaError` for a key that comes close to one that is read, or holds the schema where none is `named`."""
    for key in value.keys() - _READ - _UNREAD:
        near = get_close_matches(key, _READ, 1, _CLOSE)
        if not near and not named and key in _SCHEMA_WORDS and is_object(value[key]):
            near = ["parameters"]
        if near and near[0] not in value:
            raise SchemaError(f"{place}: {key!r} is no key of a tool; did you mean {near[0]!r}?")


def _parameters(schema: Any, what: str) -> JsonObject:
    if (
        is_object(schema) and schema.keys() == {"jsonSchema"} and is_object(schema["jsonSchema"])
    ):  # as the AI SDK wraps one
        schema = schema["jsonSchema"]
    if not is_object(schema):
        raise SchemaError(f"{what} must be a JSON Schema object, not {repr(schema)[:80]}")
    try:
        jsontext.dumps(schema)
    except UnrepresentableError as error:
        raise SchemaError(f"{what}: {error}") from None
    if _is_flat_map(schema):
        schema = _object_of(schema)
    try:
        plain = normalise(schema)
        check_spelling(plain)
        SchemaWork(plain).check()
    except SchemaError as error:
        raise SchemaError(f"{what}: {error}") from None
    kind = plain.get("type", "object")
    if is_array(kind) and "object" in kind:  # null, too, for one, and a call always has arguments
        kind = plain["type"] = "object"
    if kind != "object":
        raise SchemaError(f"{what}: arguments are an object, but its type is {kind!r}")
    return plain


def _is_flat_map(schema: JsonObject) -> bool:
    """Whether this is no schema but a map from names to them, as in xLAM's data: `{"city": {"type": "str"}}`."""
    return bool(schema.keys() - {"additionalProperties"}) and all(
        is_object(item) and isinstance(item.get("type"), str) for item in schema.values()
    )


def _object_of(members: JsonObject) -> JsonObject:
    required = [
        key for key, item in members.items() if "default" not in item and "optional" not in str(item["type"]).lower()
    ]
    return {"type": "object", "properties": members, "required": required}


def _are_objects(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(item, dict) for item in cast("list[Any]", value))


_SHAPES: Final[tuple[tuple[Callable[[JsonObject], bool], Callable[[JsonObject, str, ReadEach], Any]], ...]] = (
    (lambda value: "name" not in value and any(isinstance(value.get(key), list) for key in _WRAPPERS), _read_wrapper),
    (lambda value: isinstance(value.get("function"), dict), _read_nested),
    (lambda value: isinstance(value.get("toolSpec"), dict), _read_bedrock),
    (
        lambda value: (
            isinstance(value.get("type"), str)
            and (value["type"] not in _FUNCTION_TYPES or "format" in value)
            and not any(value.get(key) is not None for key in _SCHEMA_KEYS)
        ),
        _read_provided,
    ),
    (lambda value: "name" in value, _read_flat),
)
"""How a shape is known, and how it is read; the first that fits decides."""
