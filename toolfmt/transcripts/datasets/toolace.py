r"""Rows of ToolACE: calls as a list of Python calls, results as JSON, tools in the system text.

{"system": "You are an expert. ... [{\"name\": \"get_weather\", \"parameters\": {\"type\": \"dict\", ...}}]",
 "conversations": [
    {"from": "user", "value": "Weather in Paris?"},
    {"from": "assistant", "value": "[get_weather(city=\"Paris\")]"},
    {"from": "tool", "value": "[{\"name\": \"get_weather\", \"results\": \"18C\"}]"},
    {"from": "assistant", "value": "Paris 18C."}]}
"""

from __future__ import annotations

from typing import Any, Final

from toolfmt.dialect.record import Provenance
from toolfmt.errors import SchemaError
from toolfmt.jsontext import is_object
from toolfmt.model import JsonValue
from toolfmt.schema.spelling import normalise
from toolfmt.schema.walk import SchemaPlace, map_subschemas
from toolfmt.transcripts.datasets.rows import TURNS, functions
from toolfmt.transcripts.datasets.text_rows import RULES, TextRows, turns_of
from toolfmt.transcripts.format import TranscriptFormat


def _written(schema: JsonValue) -> JsonValue:
    try:
        return _dicts(schema, ())
    except SchemaError:
        return schema


def _dicts(schema: Any, place: SchemaPlace) -> Any:
    """Rename the type `object` to `dict`."""
    if not is_object(schema):
        return schema
    copy = map_subschemas(schema, _dicts, place)
    return copy | {"type": "dict"} if copy.get("type") == "object" else copy


def _schema(schema: JsonValue) -> JsonValue:
    try:
        return normalise(schema) if is_object(schema) else schema
    except SchemaError:
        return schema


ROWS: Final = TextRows(
    owner="toolace",
    dialect="pythonic",
    names={"user": "user", "assistant": "assistant", "tool": "tool"},
    results="[{results}]",
    separator=", ",
    result={"name": "{name}", "results": "{content}"},
    marks=("", ""),
    system_beside=True,
    tools=functions("toolace", form=(_schema, _written)),
)


def recognise(value: JsonValue) -> bool:
    """Recognise a row by a list in the system text, and turns of user and assistant."""
    if not is_object(value) or "tools" in value or not isinstance(value.get("system"), str):
        return False
    names = {item["from"] for item in turns_of(value)}
    return bool(names) and names <= {"user", "assistant", "tool"}


FORMAT: Final = TranscriptFormat(
    name=ROWS.owner,
    summary="ToolACE rows: calls as a list of Python calls, results as JSON, tools in the system text.",
    read=ROWS.read,
    write=ROWS.write,
    recognise=recognise,
    messages=TURNS,
    rules=RULES,
    sources=(Provenance("Team-ACE/ToolACE", "observation"),),
)
