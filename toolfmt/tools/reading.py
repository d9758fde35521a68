"""Read tools in any form: Python code, objects, files, lists of these."""

from __future__ import annotations

import marshal
import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from types import FunctionType
from typing import Any, Final, TypeAlias, cast

from toolfmt import jsontext
from toolfmt.arguments import checked, path_of
from toolfmt.errors import DuplicateToolError, MissingExtraError, ParseError, SchemaError, ToolFmtError, not_utf8
from toolfmt.model import JsonObject, JsonValue, ToolDefinition
from toolfmt.tools.functions import from_class, from_function
from toolfmt.tools.shapes import Found, read_object

ToolReader: TypeAlias = Callable[[Any, str], "tuple[Found, ...]"]
"""Reads a value; the string says where it is, such as `[2].tools[0]`, for errors."""


@checked
def tool(
    value: object,
    *,
    name: str | None = None,
    description: str | None = None,
    examples: Iterable[JsonObject] | None = None,
    server: str | None = None,
) -> ToolDefinition:
    """Read one tool; `name` and the other arguments replace those of the value.

    Takes every form that `tools` takes, if it contains exactly one tool. Raises `SchemaError` or `ParseError` that
    says what is wrong.
    """
    if name is not None and not (name.isprintable() and name.split() == [name]):
        wrong = "it is empty, or has white space or invisible characters in it"
        raise SchemaError(f"no provider takes the tool's name {name!r:.80}: {wrong}")
    if is_code(value):
        definition = from_class(value, name) if isinstance(value, type) else from_function(cast("Any", value), name)
    else:
        found = tools(value)
        if len(found) != 1:
            raise SchemaError(f"expected one tool, found {len(found)}")
        (definition,) = found
    replaced = {
        "name": name,
        "description": description,
        "examples": None if examples is None else tuple(examples),
        "server": server,
    }
    return definition.model_copy(update={key: given for key, given in replaced.items() if given is not None})


def tools(value: object) -> tuple[ToolDefinition, ...]:
    """Read tools in any form.

    A `ToolDefinition`; a function, a pydantic model, a dataclass; the tool JSON
    of OpenAI (chat and Responses), Anthropic, Gemini, Bedrock, MCP, BFCL or
    plain `{"name", "description", "parameters"}`; a provider's wrapper around
    a list of them; an SDK object with `model_dump`; the path of a .json, .yaml
    or .yml file, or of one with another name that holds JSON or YAML; a
    `ToolRegistry`; a list of any of these, where a path must be a `Path`. Type
    names are brought to JSON Schema's spelling. Raises `DuplicateToolError` for
    two tools of one name, `SchemaError` or `ParseError` that says which entry is
    wrong and how.
    """
    return tuple(definition for definition, _ in read(value))


def read(value: object) -> tuple[Found, ...]:
    """Read tools as `tools` does, each with the function that it came from."""
    if jsontext.too_deep(value):
        raise SchemaError(f"{_too_deep(value)} nested more than {jsontext.MAX_NESTING} levels deep")
    # Text is a path only here: inside a list or a wrapper it may come from a stranger, and must not open files.
    return _distinct(_read_named(value) if isinstance(value, str) else _read(value, ""))


def _too_deep(value: object) -> str:
    """Name what is too deep, for a message."""
    for one in cast("list[object]", value) if isinstance(value, list) else [value]:
        inner = one.get("function", one) if jsontext.is_object(one) else None
        name = inner.get("name") if jsontext.is_object(inner) and jsontext.too_deep(inner) else None
        if isinstance(name, str):
            return f"tool {name!r} is"
    return "the tools are"


@checked
def load_tools(path: str | Path) -> tuple[ToolDefinition, ...]:
    """Read the tools in a JSON or YAML file; for any other suffix, the content decides.

    Raises OSError for a file that can't be opened, `ParseError` for invalid JSON or YAML, `SchemaError` for entries
    that are not tools, `DuplicateToolError` for a duplicate name, and `MissingExtraError` for YAML without the `yaml`
    extra.
    """
    return tuple(definition for definition, _ in _read_file(path, ""))


def read_text(text: str, decode: Callable[[str], JsonValue] | None = None) -> tuple[Found, ...]:
    """Read tools from a file's text: in the format that is given or, by its first character, as JSON or YAML.

    Raises what `load_tools` does.
    """
    if not text.strip():
        raise ParseError("it is empty, but tools were expected")
    if decode is None:
        decode = jsontext.loads if text.lstrip().startswith(_JSON_STARTS) else _decode_yaml
        if decode is _decode_yaml and not _YAML.match(text):
            raise ParseError(f"this is neither JSON nor YAML: it begins {text.strip()[:40]!r}, and tools were expected")
    try:
        value = decode(text)
    except ParseError as error:
        raise type(error)(f"{error}; expected tools, such as a JSON array of them") from None
    if isinstance(value, str):
        raise SchemaError(
            f"it has the text {value[:40]!r} alone, but tools were expected, such as a JSON array of them"
        )
    return _distinct(_read(value, ""))


def file_decoder(path: str | Path) -> Callable[[str], JsonValue] | None:
    """Return the decoder for a file's suffix; None if the content decides."""
    return _FILES.get(Path(path).suffix.lower())


_GIVE: Final = "give a ToolDefinition, a function, a class or a tool's JSON object"
_JSON_STARTS: Final = ("{", "[")
_YAML: Final = re.compile(r"(?:\s*(?:#[^\n]*|---[^\n]*)\n)*\s*(?:-\s|[\w\"'$.\-]{1,128}[ \t]*:(?:\s|$))")
"""How YAML of a list or an object begins."""


def _distinct(found: tuple[Found, ...]) -> tuple[Found, ...]:
    places: dict[str, int] = {}
    for place, (definition, _) in enumerate(found):
        first = places.setdefault(definition.name, place)
        if first != place:
            raise DuplicateToolError(
                f"two tools are named {definition.name!r}, entries {first} and {place}: leave one out or rename it"
            )
    return found


def _read_named(text: str) -> tuple[Found, ...]:
    """Read the file that a text names."""
    if text.lstrip().startswith(_JSON_STARTS):
        raise SchemaError(f"a str is read as a path, not as JSON: read {text[:40]!r} with json.loads first")
    if Path(text).suffix.lower() not in _FILES and not os.path.exists(text):  # noqa: PTH110 - `Path` raises for what is no name
        raise SchemaError(f"{text[:80]!r} is no path of a {', '.join(_FILES)} file; {_GIVE}")
    return _read_file(text, "")


def _read_file(path: str | Path, _: str) -> tuple[Found, ...]:
    path = path_of(path)
    try:
        return read_text(path.read_text(encoding="utf-8-sig"), file_decoder(path))
    except UnicodeDecodeError as error:
        raise ParseError(f"{path}: {not_utf8(error)}") from None
    except (ParseError, SchemaError, DuplicateToolError) as error:
        raise type(error)(f"{path}: {error}") from None


def _read(value: Any, where: str) -> tuple[Found, ...]:
    for fits, read in _FORMS:
        if fits(value):
            return read(value, where)
    raise SchemaError(f"{where and f'{where}: '}a tool cannot be read from {type(value).__name__}: {_GIVE}")


def _refuse_text(value: str | bytes, where: str) -> tuple[Found, ...]:
    start = value.lstrip()[:1]
    advice = "read JSON with json.loads first" if start in ("{", "[", b"{", b"[") else "give a file as a pathlib.Path"
    raise SchemaError(f"{where or 'the value'}: a tool cannot be read from text, {value[:40]!r}; {advice}")


def _read_each(values: Iterable[Any], where: str) -> tuple[Found, ...]:
    return tuple(found for i, value in enumerate(values) for found in _read(value, f"{where}[{i}]"))


def _read_code(value: Any, where: str) -> tuple[Found, ...]:
    try:
        return (Found(from_class(value)) if isinstance(value, type) else Found(from_function(value), value),)
    except ToolFmtError as error:
        raise SchemaError(f"{where}: {error}" if where else str(error)) from None


def _read_dump(value: Any, where: str) -> tuple[Found, ...]:
    try:  # by alias, as `anyOf` is `any_of` in the SDKs' objects; without the fields they leave empty
        return _read(value.model_dump(mode="json", by_alias=True, exclude_none=True), where)
    except ValueError as error:  # a `SchemaError`, or pydantic's for a value that is not JSON
        raise SchemaError(f"{error}; of a model, give the class {type(value).__name__}, not an instance") from None


def _read_mapping(value: Mapping[str, Any], where: str) -> tuple[Found, ...]:
    if value and all(is_code(one) or isinstance(one, ToolDefinition) for one in value.values()):
        raise SchemaError(f"{where or 'the value'}: tools by name are given as a list: give [*tools.values()]")
    return read_object(dict(value), where, _read_each)


def is_code(value: object) -> bool:
    """Whether this is a class or something to call, and no object of an SDK."""
    return isinstance(value, type) or (callable(value) and not hasattr(value, "model_dump"))


def _decode_yaml(text: str) -> JsonValue:
    try:
        import ryaml
    except ImportError:
        raise MissingExtraError("reading YAML (the tools are no JSON)", "yaml") from None
    try:
        value: JsonValue = cast("Any", ryaml).loads(text)
        jsontext.dumps(value)  # a key that is no text, a NaN: YAML, but not JSON
    except ValueError as error:
        raise ParseError(str(error)) from None
    return value


_FILES: Final[dict[str, Callable[[str], JsonValue]]] = {
    ".json": jsontext.loads,
    ".yaml": _decode_yaml,
    ".yml": _decode_yaml,
}
_FORMS: Final[tuple[tuple[Callable[[Any], bool], ToolReader], ...]] = (
    (lambda value: isinstance(value, ToolDefinition), lambda value, _: (Found(value),)),
    (lambda value: isinstance(value, Path), _read_file),
    (lambda value: isinstance(value, (str, bytes)), _refuse_text),
    (is_code, _read_code),
    (lambda value: isinstance(value, Mapping), _read_mapping),
    (lambda value: hasattr(value, "model_dump"), _read_dump),
    (lambda value: isinstance(value, Iterable), _read_each),
)
"""How a form is known, and how it is read; the first that fits decides."""


_LARGEST = 256 * 1024
"""Bytes of a list that is kept; a longer one is read each time."""


def prepared(value: Any) -> Mapping[str, ToolDefinition]:
    """Read tools like `tools`, by name; plain JSON or functions that were read before are not read again.

    The key is the value itself, so a list that was changed in place is read anew.
    """
    if (defined := _defined(value)) is not None:
        return defined
    if type(value) in {list, dict}:
        try:
            dump = marshal.dumps(value, 2)  # type-exact, in the order of keys; version 2 writes no references
        except ValueError:
            dump = b""  # functions, models, objects
        if 0 < len(dump) <= _LARGEST:
            return _read_dumped(dump)
    return {} if value is None else {definition.name: definition for definition in tools(value)}


def _defined(value: object) -> Mapping[str, ToolDefinition] | None:
    """Return a list of definitions and functions by name; None for two of one name, or where it holds anything else."""
    entries = cast("list[object]", value) if isinstance(value, list) else [value]
    found: dict[str, ToolDefinition] = {}
    for entry in entries:
        if isinstance(entry, FunctionType):
            try:
                tool = _described(entry, *(_look(name, entry) for name in _LOOKS))
            except (ToolFmtError, TypeError):  # what is wrong is reported with its place; a default is no key
                return None
        elif isinstance(entry, ToolDefinition):
            tool = entry
        else:
            return None
        found[tool.name] = tool
    return found if len(found) == len(entries) else None


_LOOKS: Final = ("__name__", "__doc__", "__defaults__", "__kwdefaults__", "__annotations__")
"""What a function's description is made of, and may be changed in place."""


def _look(name: str, function: FunctionType) -> object:
    value: object = getattr(function, name)
    return tuple(cast("dict[str, object]", value).items()) if isinstance(value, dict) else value


@lru_cache(maxsize=64, typed=True)
def _described(function: FunctionType, *_: object) -> ToolDefinition:
    return from_function(function)


@lru_cache(maxsize=64)
def _read_dumped(dump: bytes) -> Mapping[str, ToolDefinition]:
    value = marshal.loads(dump)  # noqa: S302 - written by `prepared` itself
    return {definition.name: definition for definition in tools(value)} if value else {}
