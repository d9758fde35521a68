"""Collects Gemini's arguments that arrive value by value, as Vertex streams them.

{"functionCall": {"name": "book", "willContinue": true}}
{"functionCall": {"partialArgs": [{"jsonPath": "$.seats[0].row", "numberValue": 4}], "willContinue": true}}
{"functionCall": {"partialArgs": [{"jsonPath": "$.note", "stringValue": "by the", "willContinue": true}],
    "willContinue": true}}
{"functionCall": {"partialArgs": [{"jsonPath": "$.note", "stringValue": " window"}], "willContinue": true}}
{"functionCall": {}}
"""

from __future__ import annotations

import re
from typing import Final

from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue

_STEP: Final = re.compile(
    r"""\.(?P<name>[^.\[\]]+)|\[(?P<place>[0-9]+)\]|\['(?P<single>[^']*)'\]|\["(?P<double>[^"]*)"\]"""
)
_VALUES: Final = ("stringValue", "numberValue", "boolValue")


class PartialArguments:
    """The arguments of one call, collected by their paths; texts of one path are joined."""

    def __init__(self) -> None:
        self._emitted: dict[str, list[JsonValue]] = {}

    def add(self, item: JsonObject) -> None:
        """Add a value or a piece of text."""
        path = item.get("jsonPath")
        found = [item[key] for key in _VALUES if item.get(key) is not None]
        self._emitted.setdefault(path if isinstance(path, str) else "", []).append(found[0] if found else None)

    def whole(self) -> JsonObject | None:
        """Build the arguments; return None if a path is invalid."""
        root: JsonObject = {}
        for path, values in self._emitted.items():
            keys = _keys(path)
            texts = all(isinstance(value, str) for value in values)
            if not keys or not _put(root, keys, "".join(values) if texts else values[-1]):
                return None
        return root


def _keys(path: str) -> list[str | int]:
    """Split a path into its keys; empty if the text is not a path."""
    keys: list[str | int] = []
    at = 1
    while step := _STEP.match(path, at):
        at = step.end()
        keys.append(int(step["place"]) if step["place"] else step[step.lastgroup or 0])
    return keys if path.startswith("$") and at == len(path) else []


def _put(root: JsonObject, keys: list[str | int], value: JsonValue) -> bool:
    """Set a value at a path, creating missing containers; return whether the path is possible."""
    holder: JsonValue = root
    for key, after in zip(keys, [*keys[1:], None], strict=True):
        inside: JsonValue = value if after is None else [] if isinstance(after, int) else {}
        if is_array(holder) and isinstance(key, int) and key <= len(holder):
            if key == len(holder):
                holder.append(inside)
            holder = holder[key]
        elif is_object(holder) and isinstance(key, str):
            holder = holder.setdefault(key, inside)
        else:
            return False
    return True
