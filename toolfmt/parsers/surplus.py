"""Keys that a JSON call holds where the format has no place for them.

{"name": "read", "arguments": {}, "path": "a"}      an argument, if the tool declares `path`
{"name": "read", "arguments": {}, "file": "a"}      a failure: it may have been meant as an argument
{"name": "read", "arguments": {}, "id": "c1"}       what other formats write there: a notice
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt import jsontext
from toolfmt.schema import declares

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from toolfmt.events import Event
    from toolfmt.model import JsonObject, JsonValue, ToolDefinition
    from toolfmt.parsers.sink import Draft

_MARKS = frozenset({"id", "call_id", "tool_call_id", "index", "type", "object", "role", "status", "version"})
_THOUGHTS = frozenset({"thought", "thoughts", "thinking", "reasoning", "rationale", "reason", "explanation", "comment"})


def misplaced(keys: Mapping[str, JsonValue], given: Collection[str], tool: ToolDefinition | None) -> JsonObject:
    """The arguments among the keys: the tool declares them, and they are not `given` in their place."""
    if tool is None:
        return {}
    return {
        key: value
        for key, value in keys.items()
        if key not in _MARKS and key not in given and declares(tool.parameters, key)
    }


def unclaimed(keys: Mapping[str, JsonValue], taken: Collection[str]) -> str:
    """The first key that may have been meant as an argument and is none; "" if there is no such key."""
    known = _MARKS | _THOUGHTS
    return next((key for key, value in keys.items() if key not in taken and key not in known and value is not None), "")


def report(draft: Draft, keys: Mapping[str, JsonValue], taken: Collection[str], at: int) -> None:
    """Note each key of a call that is kept."""
    for key in keys:
        if key in taken:
            draft.note("misplaced", f"the argument {key!r} was given beside the arguments", at)
        else:
            draft.note("unclaimed", f"the key {key!r} is no part of the call", at)


class ArgumentsText:
    """The JSON text of a call's arguments, passed on but for its last brace: misplaced ones may come before it."""

    __slots__ = ("_brace", "_draft", "_kept")

    def __init__(self, draft: Draft) -> None:
        """Pass the text on to `draft`."""
        self._draft = draft
        self._brace = ""  # the last character so far, if it may be the last of all
        self._kept = ""  # the same, of what the draft has

    def _certain(self, text: str) -> str:
        """What may be passed on now: all but a brace at the end."""
        text = self._brace + text
        self._brace = "}" if text.endswith("}") else ""
        return text[: len(text) - len(self._brace)]

    def add(self, text: str) -> None:
        """Take a piece."""
        text, self._kept = self._certain(text), self._brace
        if text:
            self._draft.add(text)

    def show(self, text: str, at: int) -> list[Event]:
        """The events of a piece."""
        text = self._certain(text)
        return self._draft.show(text, at) if text else []

    def keep(self, text: str) -> None:
        """Take pieces whose events were shown."""
        text = self._kept + text
        self._kept = self._brace
        self._draft.keep(text[: len(text) - len(self._brace)])

    def so_far(self) -> str:
        """All of it."""
        return self._draft.pieces.text() + self._brace

    def close(self, more: JsonObject, *, first: bool) -> None:
        """Add further arguments, which are the `first` or come after others, and the brace."""
        members = jsontext.dumps(more)[1:-1] if more else ""
        text, self._brace = ("" if first or not more else ", ") + members + self._brace, ""
        if text and (self._draft.pieces or members):
            self._draft.add(text)
