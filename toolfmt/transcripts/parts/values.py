"""Helpers of all formats' readers and writers: unknown keys, texts, arguments."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any, Final

from toolfmt import jsontext
from toolfmt.conversation import CallPart, JsonPart, TextPart, parse_failure
from toolfmt.errors import LimitExceededError, ParseError, RenderError, shown
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue

INVALID: str = "INVALID_JSON"
"""The key that wraps text where a JSON object is required, as in pydantic-ai."""


def pointer(where: tuple[str, int] | tuple[str]) -> str:
    """Write a message's place as a JSON pointer."""
    return "/".join(map(str, where))


def located(place: str | int, error: ParseError) -> ParseError:
    """Prefix an error's text with a place: the value itself (`: expected text`), or a place around its own."""
    reason = str(error)
    return ParseError(f"{place}{'' if reason.startswith((':', '/')) else '/'}{reason}")


def outline(item: JsonObject) -> str:
    """Show an object's first keys and the types of their values, for messages."""
    return f"{{{', '.join(f'{shown(key)}: {type(value).__name__}' for key, value in list(item.items())[:6])}}}"


def rest(item: JsonObject, known: AbstractSet[str], owner: str) -> JsonObject:
    """Collect an object's unknown keys, under their owner's name."""
    if item.keys() <= known:
        return {}
    return {f"{owner}.{key}": value for key, value in item.items() if key not in known}


def inside(item: JsonObject, known: AbstractSet[str], owner: str, place: str) -> JsonObject:
    """Collect the unknown keys of an object at a place in a block; a new block has none of them."""
    return rest(item, known, f"{owner}/inside.{place}")


def text_at(item: JsonObject, key: str) -> str | None:
    """Return a text, or None; raises ParseError, whose text begins with the key, for anything else."""
    found = item.get(key)
    if found is None or isinstance(found, str):
        return found
    raise ParseError(f"{key}: expected text, not {type(found).__name__}")


def says(item: JsonObject, *keys: str) -> bool:
    """Whether each key has text or nothing."""
    return all(isinstance(item.get(key), str | None) for key in keys)


def misread(item: JsonObject, *keys: str) -> frozenset[str]:
    """Return the keys of texts that have another value, which becomes an extra field."""
    return frozenset(key for key in keys if not says(item, key))


def expected(item: JsonObject, key: str, fits: Callable[[Any], bool], what: str) -> Any:
    """Return the value of a key, or None; raises ParseError if it does not fit."""
    found = item.get(key)
    if found is None or fits(found):
        return found
    raise ParseError(f"/{key}: expected {what}, not {type(found).__name__}")


def texts_at(item: JsonObject, key: str) -> list[str]:
    """Return a list of texts, or an empty one; raises ParseError for anything else."""
    found = item.get(key)
    if found is None:
        return []
    if not is_array(found) or not all(isinstance(text, str) for text in found):
        raise ParseError(f"{key}: expected a list of texts")
    return found


def own(extra: JsonObject, owner: str) -> JsonObject:
    """Return an owner's fields from `extra`, by their own keys."""
    if not extra:
        return {}
    start = f"{owner}."
    return {key[len(start) :]: value for key, value in extra.items() if key.startswith(start)}


def put_own(written: JsonObject, extra: JsonObject, owner: str) -> None:
    """Put an owner's fields back in place; `part.key` goes into the object `part`."""
    for key, value in own(extra, owner).items():
        outer, inside, inner = key.partition(".")
        holder = written.get(outer, {})
        if inside and is_object(holder):
            written[outer] = holder | {inner: value}
        else:
            written[key] = value


def word(item: JsonValue, key: str) -> str:
    """Return an object's text under a key, or ""."""
    found = item.get(key) if is_object(item) else None
    return found if isinstance(found, str) else ""


def object_at(value: JsonObject, key: str) -> JsonObject:
    """Return the object under a key, or an empty one. Raises ParseError for anything else."""
    found = value.get(key)
    if not found or is_object(found):
        return found or {}
    raise ParseError(f"{key}: expected an object, not {type(found).__name__}")


def objects_at(value: JsonObject, key: str) -> list[JsonObject]:
    """Return the list of objects under a key, or an empty one. Raises ParseError for anything else."""
    found = value.get(key)
    if not found:
        return []
    objects = list(filter(is_object, found)) if is_array(found) else []
    if not is_array(found) or len(objects) < len(found):
        raise ParseError(f"{key}: expected a list of objects")
    return objects


def inner(value: JsonObject, key: str) -> JsonObject:
    """Return the object under a key; an empty one for anything else."""
    found = value.get(key)
    return found if is_object(found) else {}


def at(value: JsonValue, place: str) -> JsonValue:
    """Return the value at a place, which is keys and indices joined by dots, or None."""
    for key in place.split("."):
        if is_object(value):
            value = value.get(key)
        else:
            value = value[int(key)] if is_array(value) and key.isdecimal() and int(key) < len(value) else None
    return value


def put(fields: JsonObject, place: str, value: JsonValue) -> None:
    """Set a value at a place; enclosing objects are copied or created, `0` is the only item of a list."""
    outer, _, rest = place.partition(".")
    if not rest:
        fields[outer] = value
    elif rest.startswith("0."):
        item: JsonObject = {}
        fields[outer] = [item]
        put(item, rest[2:], value)
    else:
        fields[outer] = made = dict(inner(fields, outer))
        put(made, rest, value)


def json_at(value: JsonValue) -> JsonValue:
    """Decode JSON text; return anything else unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return jsontext.loads(value)
        except ParseError:
            pass
    return value


def plain_text(parts: Iterable[object]) -> str | None:
    """Return the text of a content with one plain text; "" if it is empty, None for anything else."""
    found = tuple(parts)
    part = found[0] if len(found) == 1 else None
    if isinstance(part, TextPart) and not (part.extra or part.citations):
        return part.text
    return None if found else ""


def text_or_list(blocks: list[JsonValue]) -> JsonValue:
    """Return blocks as text if they are at most one text, otherwise as a list."""
    if not blocks:
        return ""
    match blocks:
        case [{"text": str() as text, **beside}] if beside in ({}, {"type": "text"}):
            return text
        case _:
            return blocks


def content_text(content: Iterable[object], between: str = "\n") -> str:
    """Return a content as text: its texts, and its JSON values as JSON text."""
    return between.join(
        part.text if isinstance(part, TextPart) else json_text(part.value)
        for part in content
        if isinstance(part, (TextPart, JsonPart))
    )


def give(call: CallPart, arguments: JsonValue) -> CallPart:
    """Set a call's arguments from text or a value."""
    if isinstance(arguments, str):
        call.text, call.arguments = arguments, None
    else:
        call.text, call.arguments = None, {} if arguments is None else arguments
    return call


_ARGUMENTS: Final = frozenset(
    {"arguments", "args", "input", "kwargs", "parameters", "params", "partialArgs", "rawInput"}
)
"""The names of arguments in all formats."""


def arguments_at(item: JsonObject, key: str) -> JsonValue:
    """Return a call's arguments; raises `ParseError` if they are under another format's key."""
    found = item.get(key)
    if not found and not isinstance(found, str) and not item.keys().isdisjoint(_ARGUMENTS - {key}):
        other = next((name for name in item if name != key and name in _ARGUMENTS and item[name]), None)
        if other is not None:
            raise ParseError(f": the arguments of a call are under `{key}`, not under `{other}`")
    return found


def tagged(tag: str, text: str, **attributes: str | None) -> TextPart:
    """Wrap text in tags that describe it."""
    given = "".join(f' {key}="{value}"' for key, value in attributes.items() if value)
    return TextPart(f"<{tag}{given}>\n{text}\n</{tag}>")


def lines(content: JsonValue, between: str = "\n") -> str:
    """Join the texts of a list of blocks."""
    return between.join(word(item, "text") for item in content if word(item, "text")) if is_array(content) else ""


def without(value: JsonValue, said: object) -> str:
    """Name the keys of a value whose content is missing in a description of it: `, without status, server_label`."""
    whole = repr(said).lower()
    gone = dict.fromkeys(
        key for key, found in _leaves(value, "") if key not in _KINDS and not _is_in(key, found, whole)
    )
    return f", without {', '.join(gone)}" if gone else ""


def lacking(value: JsonValue, other: JsonValue) -> list[str]:
    """List the keys of a value whose content another value has nowhere."""
    known: set[tuple[type, object]] = {(type(found), found) for _, found in _leaves(other, "")}
    gone = (key for key, found in _leaves(value, "") if key not in _KINDS and (type(found), found) not in known)
    return list(dict.fromkeys(gone))


def _leaves(value: JsonValue, key: str) -> Iterator[tuple[str, JsonValue]]:
    if is_object(value):
        for name, inside in value.items():
            yield from _leaves(inside, name)
    elif is_array(value):
        for inside in value:
            yield from _leaves(inside, key)
    elif value is not None and value != "":
        yield key, value


def _is_in(key: str, value: JsonValue, whole: str) -> bool:
    if isinstance(value, str):
        return repr(value.rpartition(";base64,")[2])[1:-1].lower() in whole
    return key in whole if isinstance(value, bool) else f": {value!r}" in whole


_KINDS = frozenset({"type", "status"})
"""Keys without content of their own."""


def sound(text: str) -> str:
    """Return a text that can be encoded: lone surrogates become U+FFFD."""
    return text if jsontext.encodable(text) else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def json_text(value: JsonValue) -> str:
    """Write a value as JSON; values outside JSON are escaped, so that readers do not mistake them.

    Raises `LimitExceededError` for a value that is nested deeper than Python can write.
    """
    try:
        return jsontext.dumps(value)
    except RenderError:
        pass
    try:
        return json.dumps(value)
    except RecursionError:
        raise LimitExceededError("a value is nested too deeply to be written as text") from None


def argument_object(part: CallPart) -> JsonObject:
    r"""Return a call's arguments as an object, keeping anything else: `{"INVALID_JSON": "{\"city\": "}`.

    Of repeated keys the last one counts; numbers beyond a double's range become text.
    """
    value = argument_value(part)
    if is_object(value):
        return value
    return {} if value is None else {INVALID: jsontext.dumps(value) if part.text is None else part.text}


def argument_value(part: CallPart) -> JsonValue:
    """Return a call's arguments as a JSON value; text that is not JSON stays text. Keys and numbers as in an object."""
    if part.custom:
        return {"input": part.text or ""}
    if part.text is None:
        return part.arguments
    if not part.text.strip():
        return {}
    try:
        return jsontext.loads(part.text)
    except ParseError:
        value = _lenient(part.text)
        return part.text if value is None else value


def broken_arguments(part: CallPart) -> str:
    """Explain why a call's arguments cannot be read as a JSON object; "" if they can."""
    value = argument_value(part)
    return "" if value is None or is_object(value) else parse_failure(part) or "not a JSON object"


def _lenient(text: str) -> JsonValue:
    try:
        return json.loads(text, parse_float=_finite, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _finite(text: str) -> float | str:
    value = float(text)
    return value if math.isfinite(value) else text


def _refuse(name: str) -> JsonValue:
    raise ValueError(name)
