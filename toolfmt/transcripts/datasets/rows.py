r"""Shared by training rows: turns of `from` and `value`, calls as JSON text.

{"conversations": [{"from": "human", "value": "Weather in Paris?"}, {"from": "gpt", "value": "18C."}]}
[{"name": "get_weather", "arguments": {"city": "Paris"}}]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from toolfmt.conversation import CallPart, Message, Part, ResultPart, Role, TextPart
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.parts.hosted import read_hosted
from toolfmt.transcripts.parts.values import argument_object, arguments_at, give, json_at, pointer, rest
from toolfmt.transcripts.tables.declaring import Declaring

TURNS: Final = "conversations"
_ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "function_call": "assistant",
    "observation": "tool",
    "function_response": "tool",
    "tool": "tool",
}
_TURN: Final = frozenset({"from", "value"})
_CALL: Final = frozenset({"name", "arguments"})


def row(value: JsonValue, owner: str) -> JsonObject:
    """Return a row's object; a list is only its turns. Raises ParseError for anything else."""
    whole: JsonObject = {TURNS: value} if is_array(value) else value
    if not is_object(whole) or not is_array(whole.get(TURNS)):
        raise ParseError(f"{owner}: expected a list of turns, or an object with `{TURNS}`")
    return whole


def read_turn(item: JsonValue, where: tuple[str, int] | tuple[str], owner: str) -> Message:
    """Read a turn: its text, or a result for a tool's turn; raises ParseError for an unknown speaker."""
    text = item.get("value", "") if is_object(item) else None
    if not is_object(item) or not isinstance(text, str):
        raise ParseError(f"{pointer(where)}: expected a turn with `from` and a `value` of text")
    speaker = item.get("from")
    role = _ROLES.get(speaker) if isinstance(speaker, str) else None
    if role is None:
        missing = f"missing in an object with the keys {', '.join(map(repr, item))}"
        named = repr(speaker) if "from" in item else missing
        raise ParseError(f"{pointer(where)}: `from` is one of {', '.join(_ROLES)}, not {named}")
    content = (TextPart(text),) if text else ()
    parts: tuple[Part, ...] = (ResultPart(content),) if role == "tool" else content
    message = Message(role, parts, extra={} if item.keys() <= _TURN else rest(item, _TURN, owner))
    message.origin, message.source, message.where = owner, item, where
    return message


def system_message(text: str, owner: str) -> Message:
    """Read the instructions that are beside the turns."""
    message = Message("system", (TextPart(text),))
    message.origin, message.source, message.where = owner, text, ("/system",)
    return message


def texts(parts: Iterable[object]) -> str:
    """Join the texts."""
    return "\n\n".join(part.text for part in parts if isinstance(part, TextPart))


def read_calls(given: JsonValue, owner: str) -> tuple[CallPart, ...] | None:
    """Read calls from JSON or its text: an object or a list of objects; return None for anything else."""
    value = json_at(given)
    items = value if is_array(value) else [value]
    if not all(is_object(item) and isinstance(item.get("name"), str) for item in items):
        return None
    return tuple(
        give(CallPart(item["name"], extra=rest(item, _CALL, owner)), arguments_at(item, "arguments")) for item in items
    )


def call_objects(parts: Iterable[object]) -> list[JsonValue]:
    """Write calls as objects."""
    return [{"name": part.name, "arguments": argument_object(part)} for part in parts if isinstance(part, CallPart)]


def json_list(text: JsonValue) -> list[JsonValue] | None:
    """Read a list, which may be JSON text; None for anything else."""
    found = json_at(text)
    return found if is_array(found) else None


def functions(owner: str, **form: Any) -> Declaring:
    """Build the table of declarations: a function's fields, bare or under `function`; anything else is kept whole."""
    return Declaring(
        owner=owner, under=("", "function"), kept=True, hosted=lambda item: read_hosted(item, owner, ""), **form
    )
