"""Small steps that the readers of all answers share.

Shape(fits=lambda value: "choices" in value, read=...)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.answer_info import STOPS

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.transcripts.assembling import Assembler


@dataclass(frozen=True, slots=True)
class StepShape:
    """One kind of value: how it is distinguished from the others, and how it is read."""

    fits: Callable[[JsonObject], object]
    read: Callable[[JsonObject, Assembler], None]


def kind(value: JsonObject) -> str:
    """Give the text under `type`; "" for anything else."""
    found = value.get("type")
    return found if isinstance(found, str) else ""


def inner(value: JsonObject, key: str) -> JsonObject:
    """Give the object under a key; an empty one for anything else."""
    found = value.get(key)
    return found if is_object(found) else {}


def objects(value: JsonObject, key: str) -> list[JsonObject]:
    """Give the objects of the list under a key."""
    found = value.get(key)
    return [item for item in found if is_object(item)] if is_array(found) else []


def ended(made: Assembler, reason: JsonValue) -> None:
    """Take the provider's word for why the answer ended; nothing says that it has not."""
    if reason:
        made.info.stop = STOPS.get(reason, "stop")


def whole_call(
    made: Assembler, name: JsonValue, ident: JsonValue, arguments: JsonValue, extra: JsonObject | None = None
) -> None:
    """Take a call that comes in one piece."""
    key = object()
    made.call(key, name, ident, extra=extra)
    made.arguments(key, arguments)
    made.end(key)
