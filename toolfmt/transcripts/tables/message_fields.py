"""The fields of a table of messages: each contains parts beside the content, such as calls or reasoning.

thought("reasoning_content")               the thought before the content
listed("tool_calls", CALLS, "function")    calls, each an object that names its function
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, NamedTuple

from toolfmt.conversation import CallPart, Part, ReasoningPart, Role
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject
from toolfmt.transcripts.tables.blocks import PartTable

NOTHING: Final = frozenset[str]()
"""No understood key."""


class MessageField(NamedTuple):
    """A field of messages that contains parts beside the content: calls, reasoning, a refusal."""

    keys: tuple[str, ...]
    read: Callable[[JsonObject, list[Part]], AbstractSet[str]]
    """Adds the field's parts to a message's parts, and returns the understood keys."""
    kind: type[Part] | None = None
    """The type of part that is written; None: the field is only read."""
    write: Callable[[list[Any], JsonObject], bool] = lambda _, __: False
    """Writes parts into a message; returns whether they make it valid without content."""
    pick: Callable[[Sequence[Part]], Sequence[Part]] | None = None
    """Selects the parts that are written; None: all of the type."""
    shared: bool = False
    """Whether the parts are in the content too."""
    first: bool = False
    """Whether the parts come before those of the content."""
    instead: bool = False
    """Whether a message with this field needs no content."""
    role: Role | None = None
    """The only role whose messages have the field; None: all."""


def thought(key: str) -> MessageField:
    """The model's reasoning before its content, as one text."""

    def read(item: JsonObject, parts: list[Part]) -> AbstractSet[str]:
        text = item[key]
        if not isinstance(text, str):
            return NOTHING
        parts += [ReasoningPart(text)] if text else []
        return {key}

    def write(parts: list[ReasoningPart], item: JsonObject) -> bool:
        text = "\n\n".join(part.text for part in parts if part.text)
        item |= {key: text} if text else {}
        return bool(text)

    return MessageField((key,), read, ReasoningPart, write, first=True, role="assistant")


def listed(key: str, table: PartTable, named: str, *, refuses: bool = False, instead: bool = False) -> MessageField:
    """A list of calls, which a table reads if each has its name under a key; others are extra fields, or refused."""

    def read(item: JsonObject, parts: list[Part]) -> AbstractSet[str]:
        items = item[key]
        if not is_array(items) or not all(is_object(found) and found.get(named) for found in items):
            if refuses and items is not None:
                raise ParseError(f"{key}: expected a list of calls with a `{named}`")
            return NOTHING
        parts += map(table.read, items)
        return {key}

    def write(parts: list[Any], item: JsonObject) -> bool:
        item[key] = table.write_list(parts)
        return True

    return MessageField((key,), read, CallPart, write, instead=instead, role="assistant")
