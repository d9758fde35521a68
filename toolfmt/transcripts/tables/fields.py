"""The fields of a table of blocks: each reads a block's key into a part, and writes it back.

text("name", "name")        the text under `name`, which a block has to have
ident("tool_use_id")        an id, where there is one
arguments("input")          a call's arguments
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from toolfmt import jsontext
from toolfmt.conversation import CallPart, ResultPart, TextPart
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.parts.citations import CitationForm, cited
from toolfmt.transcripts.parts.values import argument_object, argument_value, arguments_at, give

Odd: TypeAlias = Literal["refuse", "opaque", "beside"]
"""How to treat a value of the wrong type: fail, make the block opaque, or keep it as an extra field."""


class PartField(NamedTuple):
    """One field of a kind of block."""

    keys: tuple[str, ...]
    """The keys that it reads; all others go to `extra`."""
    read: Callable[[JsonObject, Any], bool | None]
    """Copies a block's data into a part; returns False for a block of another kind, None to keep the keys as extra."""
    write: Callable[[Any, JsonObject], bool | None] | None = None
    """Copies a part's data into a block; returns False if the format has no place for the part."""


def text(key: str, attribute: str = "text", *, odd: Odd = "opaque", default: str | None = None) -> PartField:
    """Required text of a block, or the `default` if it is missing."""

    def read(item: JsonObject, part: Any) -> bool | None:
        found = item.get(key, default)
        if not isinstance(found, str):
            if found is not None or default is None:
                return _odd(key, found, odd)
            found = default
        setattr(part, attribute, found)
        return True

    def write(part: Any, item: JsonObject) -> None:
        item[key] = getattr(part, attribute)

    return PartField((key,), read, write)


def option(key: str, attribute: str, *, odd: Odd = "beside") -> PartField:
    """Optional text of a block."""

    def read(item: JsonObject, part: Any) -> bool | None:
        found = item.get(key)
        if found is not None and not isinstance(found, str):
            return _odd(key, found, odd)
        if found:
            setattr(part, attribute, found)
        return True

    def write(part: Any, item: JsonObject) -> None:
        found = getattr(part, attribute)
        if found is not None:
            item[key] = found

    return PartField((key,), read, write)


def ident(key: str, *, odd: Odd = "beside") -> PartField:
    """The id of a call, or of the call that a result answers."""
    return option(key, "id", odd=odd)


def proof(key: str, owner: str, attribute: str = "signature", *, odd: Odd = "beside") -> PartField:
    """The signature of a part, which makes the part belong to its owner."""
    given = option(key, attribute, odd=odd).read

    def read(item: JsonObject, part: Any) -> bool | None:
        fits = given(item, part)
        if getattr(part, attribute):
            part.owner = owner
        return fits

    def write(part: Any, item: JsonObject) -> None:
        found = getattr(part, attribute)
        if part.owner == owner and found is not None:
            item[key] = found

    return PartField((key,), read, write)


def arguments(key: str, form: Literal["object", "value", "text", "either"] = "object") -> PartField:
    """A call's arguments: a JSON object, any value (text if it is not JSON), or JSON text; `either` reads both."""

    def read(item: JsonObject, part: CallPart) -> bool:
        give(part, arguments_at(item, key))
        return True

    written = _WRITTEN[form]

    def write(part: CallPart, item: JsonObject) -> None:
        item[key] = written(part)

    return PartField((key,), read, write)


_WRITTEN: Final[dict[str, Callable[[CallPart], JsonValue]]] = {
    "object": argument_object,
    "value": argument_value,
    "either": argument_object,
    "text": lambda part: jsontext.dumps(argument_object(part)) if part.custom else part.json,
}


def flag(key: str, *, value: JsonValue = True) -> PartField:
    """Whether a result is an error: the key has this value, by default any true one; otherwise it is not written."""

    def read(item: JsonObject, part: ResultPart) -> bool:
        found = item.get(key)
        part.is_error = bool(found) if value is True else found == value
        return True

    def write(part: ResultPart, item: JsonObject) -> None:
        if part.is_error:
            item[key] = value

    return PartField((key,), read, write)


def shared(key: str) -> PartField:
    """An extra field of a block with the same meaning in all formats that have it."""

    def read(item: JsonObject, part: Any) -> bool:
        if item.get(key) is not None:
            part.extra[key] = item[key]
        return True

    def write(part: Any, item: JsonObject) -> None:
        if key in part.extra:
            item[key] = part.extra[key]

    return PartField((key,), read, write)


def constant(key: str, value: JsonValue, *, needed: bool = True) -> PartField:
    """A key with a constant value; a block with another value is of another kind, unless the value is not `needed`."""

    def read(item: JsonObject, _: Any) -> bool:
        return not needed or item.get(key) == value

    def write(_: Any, item: JsonObject) -> None:
        item[key] = value

    return PartField((key,), read, write)


def where(fits: Callable[[JsonObject], bool], *ignored: str) -> PartField:
    """A condition: blocks that do not fit are opaque; `ignored` keys have no meaning."""

    def read(item: JsonObject, _: Any) -> bool:
        return fits(item)

    return PartField(ignored, read)


def citations(
    key: str, form: CitationForm | None, own: Callable[[JsonObject], bool], *, odd: Odd = "beside"
) -> PartField:
    """The citations of a text: the format's `own` unchanged, others in its form if there is one."""

    def read(item: JsonObject, part: TextPart) -> bool | None:
        found = item.get(key)
        if found is None:
            return True
        if not is_array(found) or not all(map(is_object, found)):
            return _odd(key, found, odd)
        part.citations = part.citations or tuple(found)
        return True

    def write(part: TextPart, item: JsonObject) -> None:
        if part.citations and (found := cited(part, form, own)):
            item[key] = found

    return PartField((key,), read, write)


def _odd(key: str, found: JsonValue, odd: Odd) -> bool | None:
    if odd == "refuse":
        raise ParseError(f"{key}: expected text, not {type(found).__name__}")
    return False if odd == "opaque" else None


ABOUT: Final = (shared("context"), shared("citations"))
"""A document's context, and whether it is cited."""
