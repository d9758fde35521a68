r"""Rows of Hermes' function calling data: calls and results in Hermes' tags, tools in the system text.

{"conversations": [
    {"from": "system", "value": "You are a function calling AI model. ... <tools>[{\"type\": ...}]</tools>"},
    {"from": "human", "value": "Weather in Paris?"},
    {"from": "gpt", "value": "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {...}}\n</tool_call>"},
    {"from": "tool", "value": "<tool_response>\n{\"name\": \"get_weather\", \"content\": \"18C\"}\n</tool_response>"},
    {"from": "gpt", "value": "Paris 18C."}]}
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from toolfmt.dialect.record import Provenance
from toolfmt.model import JsonValue
from toolfmt.transcripts.datasets.rows import TURNS, functions
from toolfmt.transcripts.datasets.text_rows import RULES, TextRows, turns_of
from toolfmt.transcripts.format import TranscriptFormat

ROWS: Final = TextRows(
    owner="hermes-rows",
    dialect="hermes",
    names={"system": "system", "user": "human", "assistant": "gpt", "tool": "tool"},
    results="<tool_response>\n{results}\n</tool_response>",
    separator="\n</tool_response>\n<tool_response>\n",
    result={"name": "{name}", "content": "{content}"},
    marks=("<tools>\n", "\n</tools>"),
    system_beside=False,
    tools=replace(functions("hermes-rows"), under=("function", ""), typed=True),
)


def recognise(value: JsonValue) -> bool:
    """Recognise a row by the tags in its turns."""
    return any(
        tag in item["value"] for item in turns_of(value) for tag in ("<tools>", "<tool_call>", "<tool_response>")
    )


FORMAT: Final = TranscriptFormat(
    name=ROWS.owner,
    summary="Hermes function calling rows: from and value, calls in <tool_call>, tools in the system text.",
    read=ROWS.read,
    write=ROWS.write,
    recognise=recognise,
    messages=TURNS,
    rules=RULES,
    sources=(Provenance("NousResearch/hermes-function-calling-v1", "observation"),),
)
