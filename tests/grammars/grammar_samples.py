"""Tools, calls to them that every format can be asked to write, and the same broken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolfmt import ToolDefinition, render_calls
from toolfmt.dialect.record import Dialect
from toolfmt.errors import UnrepresentableError

UNDESCRIBED = "yaml-xml"
"""The one format that no grammar describes."""
WEATHER = ToolDefinition(
    name="get_weather",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer", "minimum": 1, "maximum": 14},
            "units": {"enum": ["C", "F"]},
            "exact": {"type": "boolean"},
            "wind": {"type": "number"},
        },
        "required": ["city"],
    },
)
BOOK = ToolDefinition(
    name="book",
    parameters={
        "type": "object",
        "properties": {
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 4},
            "when": {
                "type": "object",
                "properties": {"day": {"type": "integer"}, "note": {"type": ["string", "null"]}},
                "required": ["day"],
            },
            "n": {"type": ["integer", "null"]},
        },
        "required": ["tags"],
    },
)
TOOLS = [WEATHER, BOOK]
HARD = {"city": 'São "Paulo" <b> & it\'s\nfun\\', "days": 3, "units": "C", "exact": True, "wind": 1.5}
CALLS: list[list[dict[str, Any]]] = [
    [{"name": "get_weather", "arguments": {"city": "Paris"}}],
    [{"name": "get_weather", "arguments": HARD}],
    [{"name": "book", "arguments": {"tags": ["a", "b c"], "when": {"day": 3, "note": "hi"}, "n": None}}],
    [
        {"name": "book", "arguments": {"tags": [], "when": {"day": -2}, "n": 7}},
        {"name": "get_weather", "arguments": {"city": "x"}},
    ],
]


def written(dialect: Dialect[str]) -> Iterator[str]:
    """The calls as a format writes them, as far as it can."""
    for calls in CALLS:
        try:
            yield render_calls(calls, dialect=dialect, tools=TOOLS)
        except UnrepresentableError:
            continue


def broken(texts: list[str]) -> list[str]:
    """The same cut off, with a wrong tool, a wrong argument, a wrong value, and nonsense."""
    return [
        "",
        "nonsense",
        texts[0][: len(texts[0]) * 2 // 3],
        texts[0].replace("get_weather", "get_wether"),
        texts[0].replace("city", "town"),
        texts[1].replace("3", "99"),
    ]
