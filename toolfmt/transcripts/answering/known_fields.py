"""The fields of answers that are read, as data: every other field with a value is a loss.

    KNOWN = fields("id model", usage=fields("prompt_tokens completion_tokens"))
    unread({"id": "a", "usage": {"prompt_tokens": 1, "cost": 2}, "region": "eu"}, KNOWN)
    ["/usage/cost", "/region"]

None in place of an object's fields means that the whole value is read, or reported, elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue

Fields: TypeAlias = "Mapping[str, Fields | Chosen | None]"
"""The known keys of an object, each with the known keys inside."""
Chosen: TypeAlias = Callable[["JsonObject"], "Fields | None"]
"""Returns the known keys of an object by its kind; None for a kind that is reported as a whole."""


def fields(names: str, **inside: Fields | Chosen) -> Fields:
    """List the keys of an object: those whose values are read whole, and those `inside` of which keys are read."""
    return {**dict.fromkeys(names.split()), **inside}


def by_type(**kinds: Fields) -> Chosen:
    """Choose the fields by an object's `type`; an object of another type is reported as a whole."""
    named = {kind: {"type": None, **known} for kind, known in kinds.items()}
    return lambda value: named.get(str(value.get("type")))


def unread(value: JsonObject, known: Fields | Chosen | None) -> list[str]:
    """List the JSON pointers of unknown fields that have a value."""
    if known is None or (callable(known) and (known := known(value)) is None):
        return []
    found: list[str] = []
    for key, item in value.items():
        if key not in known:
            found += [f"/{key}"] if _says(item) else ()
        elif (inside := known[key]) is not None:
            if is_object(item):
                found += [f"/{key}{place}" for place in unread(item, inside)]
            elif is_array(item):
                for at, one in enumerate(item):
                    found += [f"/{key}/{at}{place}" for place in unread(one, inside)] if is_object(one) else ()
    return found


def _says(item: JsonValue) -> bool:
    """Whether a field has a value; a count of zero is none."""
    return item is False or item not in (None, {}, [], "", 0)


def dotted(place: str) -> str:
    """Describe a pointer without the numbers in lists: `usage.cost`."""
    return ".".join(key for key in place.split("/")[1:] if not key.isdecimal())


ERROR: Final = fields("message detail code type __type param status status_code")
"""The fields of an error."""


def error_fields(value: JsonObject) -> Fields:
    """Return the known fields of an error's body, as far as they are around the error."""
    if len(value) == 1 and (key := next(iter(value))).endswith("Exception"):
        return {key: ERROR}
    return {**ERROR, "error": ERROR, "object": None, "response": None}
