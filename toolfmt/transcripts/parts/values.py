"""Small steps that all formats' readers and writers share: keys not understood, texts, arguments."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any, Final

from toolfmt import jsontext
from toolfmt.conversation import CallPart, JsonPart, TextPart, parse_failure
from toolfmt.errors import LimitExceededError, ParseError, RenderError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue

INVALID: str = "INVALID_JSON"
"""The key under which text that is not a JSON object travels where an object is demanded, as pydantic-ai writes it."""


def pointer(where: tuple[str, int] | tuple[str]) -> str:
    """Write a message's place as a JSON pointer."""
    return "/".join(map(str, where))


def located(place: str | int, error: ParseError) -> ParseError:
    """Put a place before what an error says: of the value there (`: expected text`), or of a place inside it."""
    reason = str(error)
    return ParseError(f"{place}{'' if reason.startswith((':', '/')) else '/'}{reason}")


def rest(item: JsonObject, known: AbstractSet[str], owner: str) -> JsonObject:
    """Collect the keys of an object that its reader does not know, under their owner's name."""
    if item.keys() <= known:
        return {}
    return {f"{owner}.{key}": value for key, value in item.items() if key not in known}


def text_at(item: JsonObject, key: str) -> str | None:
    """Get a text, or None if there is none; raises ParseError, which begins with the key, for anything else."""
    found = item.get(key)
    if found is None or isinstance(found, str):
        return found
    raise ParseError(f"{key}: expected text, not {type(found).__name__}")


def says(item: JsonObject, *keys: str) -> bool:
    """Whether each key holds text or nothing, so that all of it has a place."""
    return all(isinstance(item.get(key), str | None) for key in keys)


def misread(item: JsonObject, *keys: str) -> frozenset[str]:
    """Pick the keys of texts that hold something else: it has no place of its own and is a further field."""
    return frozenset(key for key in keys if not says(item, key))


def expected(item: JsonObject, key: str, fits: Callable[[Any], bool], what: str) -> Any:
    """Get the value of a key, or None if it is absent; raises ParseError for what does not fit."""
    found = item.get(key)
    if found is None or fits(found):
        return found
    raise ParseError(f"/{key}: expected {what}, not {type(found).__name__}")


def texts_at(item: JsonObject, key: str) -> list[str]:
    """Get a list of texts, empty if there is none; raises ParseError for anything else."""
    found = item.get(key)
    if found is None:
        return []
    if not is_array(found) or not all(isinstance(text, str) for text in found):
        raise ParseError(f"{key}: expected a list of texts")
    return found


def own(extra: JsonObject, owner: str) -> JsonObject:
    """Pick what belongs to an owner out of `extra`, under its own keys."""
    if not extra:
        return {}
    start = f"{owner}."
    return {key[len(start) :]: value for key, value in extra.items() if key.startswith(start)}


def put_own(written: JsonObject, extra: JsonObject, owner: str) -> None:
    """Put an owner's keys back where they stood; `part.key` goes into the object `part`."""
    for key, value in own(extra, owner).items():
        outer, inside, inner = key.partition(".")
        holder = written.get(outer, {})
        if inside and is_object(holder):
            written[outer] = holder | {inner: value}
        else:
            written[key] = value


def word(item: JsonValue, key: str) -> str:
    """Return an object's text under a key; empty if there is none."""
    found = item.get(key) if is_object(item) else None
    return found if isinstance(found, str) else ""


def object_at(value: JsonObject, key: str) -> JsonObject:
    """Get the object under a key; an empty one where there is nothing. Raises ParseError for anything else."""
    found = value.get(key)
    if not found or is_object(found):
        return found or {}
    raise ParseError(f"{key}: expected an object, not {type(found).__name__}")


def objects_at(value: JsonObject, key: str) -> list[JsonObject]:
    """Get the list of objects under a key; an empty one where there is nothing. Raises ParseError for anything else."""
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
    """Get what is at a place, keys and numbers of items joined by dots; None if nothing is."""
    for key in place.split("."):
        if is_object(value):
            value = value.get(key)
        else:
            value = value[int(key)] if is_array(value) and key.isdecimal() and int(key) < len(value) else None
    return value


def put(fields: JsonObject, place: str, value: JsonValue) -> None:
    """Put a value at a place; the objects around it are copied or made, `0` is the only item of a list."""
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
    """Return what a text of JSON says; anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return jsontext.loads(value)
        except ParseError:
            pass
    return value


def plain_text(parts: Iterable[object]) -> str | None:
    """Return the text of a content that is one text and nothing else; "" if it is empty, None if it is more."""
    found = tuple(parts)
    if not found:
        return ""
    if len(found) == 1 and isinstance(found[0], TextPart) and not found[0].extra and not found[0].citations:
        return found[0].text
    return None


def text_or_list(blocks: list[JsonValue]) -> JsonValue:
    """Return a content as text where its blocks are one text at most, else as their list."""
    if not blocks:
        return ""
    match blocks:
        case [{"text": str() as text, **beside}] if beside in ({}, {"type": "text"}):
            return text
        case _:
            return blocks


def content_text(content: Iterable[object], between: str = "\n") -> str:
    """Return what a content says in words: its texts, and its JSON values as JSON text."""
    return between.join(
        part.text if isinstance(part, TextPart) else json_text(part.value)
        for part in content
        if isinstance(part, (TextPart, JsonPart))
    )


def give(call: CallPart, arguments: JsonValue) -> CallPart:
    """Give a call its arguments as they came: text, or a value."""
    if isinstance(arguments, str):
        call.text, call.arguments = arguments, None
    else:
        call.text, call.arguments = None, {} if arguments is None else arguments
    return call


_ARGUMENTS: Final = frozenset(
    {"arguments", "args", "input", "kwargs", "parameters", "params", "partialArgs", "rawInput"}
)
"""What the formats call a call's arguments."""


def arguments_at(item: JsonObject, key: str) -> JsonValue:
    """Get a call's arguments; raises `ParseError` if they are under the key of another format instead."""
    found = item.get(key)
    if not found and not isinstance(found, str) and not item.keys().isdisjoint(_ARGUMENTS - {key}):
        other = next((name for name in item if name != key and name in _ARGUMENTS and item[name]), None)
        if other is not None:
            raise ParseError(f": the arguments of a call are under `{key}`, not under `{other}`")
    return found


def tagged(tag: str, text: str, **attributes: str | None) -> TextPart:
    """Put text between tags that say what it is."""
    given = "".join(f' {key}="{value}"' for key, value in attributes.items() if value)
    return TextPart(f"<{tag}{given}>\n{text}\n</{tag}>")


def lines(content: JsonValue, between: str = "\n") -> str:
    """Join the texts of a list of blocks."""
    return between.join(word(item, "text") for item in content if word(item, "text")) if is_array(content) else ""


def without(value: JsonValue, said: object) -> str:
    """Name the keys of a value whose content is nowhere in what is said of it: `, without status, server_label`."""
    whole = repr(said).lower()
    gone = dict.fromkeys(
        key for key, found in _leaves(value, "") if key not in _KINDS and not _is_in(key, found, whole)
    )
    return f", without {', '.join(gone)}" if gone else ""


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
"""Keys that say nothing of their own."""


def sound(text: str) -> str:
    """Return a text that can be encoded: half a surrogate pair becomes U+FFFD."""
    return text if jsontext.encodable(text) else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def json_text(value: JsonValue) -> str:
    """Write a value as JSON; what JSON has no text for is escaped, and no reader will take it for a value.

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

    Repeated keys count once, the last wins; numbers past the range of a double become text.
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
