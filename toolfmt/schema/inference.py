"""Types of text where no schema tells them: what looks like a number, a truth value or null is one.

    true, FALSE -> bool    null -> None    42, 007 -> int    3.14, 1e10 -> float    "true" -> text, quotes and all

Off unless asked for: a version `1.10` or an id `007` loses its digits in this way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolfmt.schema.coercion import coerce

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

_WORDS: Final[dict[str, JsonValue]] = {"true": True, "false": False, "null": None}
_NUMBER: Final[JsonObject] = {"type": ["integer", "number"]}
_LONGEST_WORD: Final = 64
"""Longer text, blanks included, is no word."""


def infer(text: str) -> JsonValue:
    """Give a text the type that it looks like; any other text stays as it is."""
    word = text.strip().lower() if len(text) <= _LONGEST_WORD else ""
    if word in _WORDS:
        return _WORDS[word]
    number = coerce(text, _NUMBER)[0]
    return text if number is None else number  # `none` stands for null only where a schema allows no text
