r"""Rows of xLAM's (APIGen's) data: a question, the tools, the calls that answer it.

{"id": 0, "query": "Weather in Paris?",
 "tools": "[{\"name\": \"get_weather\", \"description\": \"Get the weather\",
             \"parameters\": {\"city\": {\"description\": \"City\", \"type\": \"str\", \"default\": \"Paris\"}}}]",
 "answers": "[{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}]"}

`tools` and `answers` are JSON text; parameters are named without a schema around them, and
their types are Python's. Other content of a conversation has no place.
"""

from __future__ import annotations

from typing import Final

from toolfmt.conversation import Message, OpaquePart, TextPart, Transcript
from toolfmt.dialect.record import Provenance
from toolfmt.errors import ParseError, SchemaError
from toolfmt.jsontext import is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.rules import ARGUMENTS
from toolfmt.schema.spelling import normalise
from toolfmt.transcripts.datasets.rows import call_objects, functions, json_list, read_calls, texts
from toolfmt.transcripts.format import Rules, TranscriptFormat
from toolfmt.transcripts.parts.values import inner, json_text, own, rest

NAME: Final = "xlam"
_ROW: Final = frozenset({"query", "tools", "answers"})
_PYTHON: Final = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list",
    "object": "dict",
}
_OPTIONAL: Final = ", optional"


def read(value: JsonValue) -> Transcript:
    """Read a row."""
    if not is_object(value) or not isinstance(value.get("query"), str):
        raise ParseError(f"{NAME}: expected an object with a `query` of text")
    query = Message("user", (TextPart(value["query"]),) if value["query"] else ())
    query.origin, query.source, query.where = NAME, value["query"], ("/query",)
    messages = [query]
    if "answers" in value:
        found = value["answers"]
        calls = read_calls(found, NAME)
        answer = Message("assistant", (OpaquePart(NAME, found),) if calls is None else calls)
        answer.origin, answer.source, answer.where = NAME, found, ("/answers",)
        messages.append(answer)
    tools = json_list(value.get("tools"))
    return Transcript(
        tuple(messages),
        None if tools is None else tuple(_TOOLS.read_list(tools)),
        extra=rest(value, _ROW if tools is not None else _ROW - {"tools"}, NAME),
    )


def _read_schema(flat: JsonValue) -> JsonValue:
    if not is_object(flat) or not all(map(is_object, flat.values())):
        return flat
    required = [
        name
        for name, about in flat.items()
        if "default" not in about and not str(about.get("type")).endswith("optional")
    ]
    try:
        named = {name: normalise(about) for name, about in flat.items()}
    except SchemaError:
        return flat
    return {"type": "object", "properties": named} | ({"required": required} if required else {})


def write(transcript: Transcript) -> JsonObject:
    """Write a row."""
    questions = [message for message in transcript.messages if message.role == "user"]
    answers = [message for message in transcript.messages if message.role == "assistant"]
    value: JsonObject = {**own(transcript.extra, NAME)}
    value["query"] = "\n\n".join(texts(message.parts) for message in questions)
    if transcript.tools is not None:
        value["tools"] = json_text(_TOOLS.write_list(transcript.tools))
    if answers:
        kept = len(answers) == 1 and answers[0].origin == NAME
        parts = [part for message in answers for part in message.parts]
        opaque = next((part.value for part in parts if isinstance(part, OpaquePart) and part.owner == NAME), None)
        written = json_text(call_objects(parts)) if opaque is None else opaque
        value["answers"] = answers[0].source if kept else written
    return value


def _write_schema(schema: JsonValue) -> JsonValue:
    if not is_object(schema):
        return schema
    required = schema.get("required") or ()
    return {name: _named(about, optional=name not in required) for name, about in inner(schema, "properties").items()}


def _named(about: JsonValue, *, optional: bool) -> JsonValue:
    """Name a parameter's type as Python does."""
    kind = about.get("type") if is_object(about) else None
    if not is_object(about) or not isinstance(kind, str):
        return about
    return {**about, "type": _PYTHON.get(kind, kind) + (_OPTIONAL if optional else "")}


_TOOLS: Final = functions(NAME, form=(_read_schema, _write_schema))


def recognise(value: JsonValue) -> bool:
    """Recognise a row by its query and answers."""
    return is_object(value) and isinstance(value.get("query"), str) and "answers" in value


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="xLAM rows: one query, its tools and the calls that answer it, as JSON text.",
    read=read,
    write=write,
    recognise=recognise,
    rules=Rules(
        trained=True,
        roles=frozenset({"user", "assistant"}),
        call_ids="none",
        user_kinds=frozenset({"text"}),
        one_answer=True,
        schema=ARGUMENTS,
        arguments="object",
    ),
    aliases=("apigen",),
    sources=(Provenance("Salesforce/xlam-function-calling-60k", "observation"),),
)
