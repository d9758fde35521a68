"""What cases are made from: the project's own examples, and the material beside the checkout where that is there."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

from tests.golden.golden_cases import all_cases

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "transcripts"
CORPUS = Path(__file__).parent / "corpus"
_MOST = 60
"""Recorded values of each kind that are taken: the first ones, evenly spread."""


def _lines(path: Path) -> list[Any]:
    if not path.exists():
        return []
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    values = [json.loads(line) for line in data.splitlines()]
    return values[:: max(1, len(values) // (4 * _MOST))]


@cache
def conversations() -> tuple[Any, ...]:
    """Give conversations in every format that there is an example of."""
    found = [
        json.loads(path.read_text("utf-8")) for path in sorted((ROOT / "tests/transcripts/examples").glob("*.json"))
    ]
    if SHARED.is_dir():
        found += [json.loads(path.read_text("utf-8")) for path in sorted((SHARED / "examples").glob("*.json"))]
    found += [one["request"] for one in _lines(SHARED / "real.jsonl")[:_MOST]]
    return tuple(found)


@cache
def answers() -> tuple[Any, ...]:
    """Give answers of APIs: whole ones, and lists of a stream's events."""
    found: list[Any] = [_ANSWER, _STREAM]
    for one in _lines(SHARED / "recorded.jsonl.gz"):
        response = one["response"]
        if not isinstance(response, str):
            found.append(response)
            continue
        data = [line[5:].strip() for line in response.splitlines() if line.startswith("data:")]
        events = [json.loads(line) for line in data if line.startswith("{") and line.endswith("}")]
        if 0 < len(events) < 200:  # noqa: PLR2004 - a stream that is quickly read
            found.append(events)
    return tuple(found)


@cache
def schemas() -> tuple[Any, ...]:
    """Give schemas of tools."""
    found: list[Any] = [_SCHEMA]
    for value in conversations():
        for tool in value.get("tools") or () if isinstance(value, dict) else ():
            for one in (tool, tool.get("function")) if isinstance(tool, dict) else ():
                if isinstance(one, dict):
                    found += [one[key] for key in ("parameters", "input_schema") if isinstance(one.get(key), dict)]
    return tuple(found[:_MOST])


@cache
def answer_texts() -> tuple[tuple[str, str], ...]:
    """Give texts that models write, each with its dialect: those of the golden cases."""
    return tuple((case.dialect, case.input) for case in all_cases())


_SCHEMA = {
    "type": "object",
    "$defs": {
        "point": {
            "type": "object",
            "properties": {"x": {"type": "number", "minimum": 0}, "n": {"$ref": "#/$defs/point"}},
        }
    },
    "properties": {
        "s": {"type": "string", "enum": ["a", "b"], "default": "a", "description": "One of two."},
        "i": {"type": "integer", "minimum": 1, "maximum": 10, "multipleOf": 2, "examples": [4]},
        "l": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/point"}, {"type": "null"}]}, "minItems": 1},
        "o": {"type": "object", "additionalProperties": {"type": "string", "pattern": "^a+$", "format": "date"}},
        "u": {"allOf": [{"type": ["string", "null"]}, {"minLength": 2, "maxLength": 5}], "const": "xx"},
        "t": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "boolean"}], "uniqueItems": True},
    },
    "required": ["s"],
    "additionalProperties": False,
}
_ANSWER = {
    "choices": [
        {
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": "Let me see.",
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"s": "a"}'}}],
            },
        }
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
}
_STREAM = [
    {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {"input_tokens": 1}}},
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "tool_use", "id": "t1", "name": "f", "input": {}},
    },
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"s": "a"}'}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
]
