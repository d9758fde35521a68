"""MCP's messages about tools in JSON-RPC: lists of tools, calls, and results.

[{"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
 {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "get_weather", "inputSchema": {"type": "object"}}]}},
 {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
    "params": {"name": "get_weather", "arguments": {"city": "Paris"}}},
 {"jsonrpc": "2.0", "id": 2, "result": {"content": [{"type": "text", "text": "18C"}], "isError": false}}]

A message may be alone, and `params` or `result` may lack the message around it.
Text of user and model has no place; other messages are kept for converting back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from toolfmt.conversation import CallPart, Message, ResultPart, ToolDeclaration, Transcript
from toolfmt.dialect.record import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.rules import MCP
from toolfmt.transcripts.format import ANYTHING, Kind, Rules, TranscriptFormat
from toolfmt.transcripts.parts.mcp_content import CALL, NAME, read_call, read_result, write_call, write_result
from toolfmt.transcripts.parts.pieces import SharedSource, kept_or_new
from toolfmt.transcripts.parts.session_lines import first_lines, read_lines
from toolfmt.transcripts.parts.values import own, rest, word
from toolfmt.transcripts.tables.declaring import Declaring

_LIST: Final = "tools/list"
_OTHERS: Final = f"{NAME}.others"
_PARAMS: Final = frozenset({"name", "arguments", "_meta", "task"})
_RESULT: Final = frozenset({"content", "structuredContent", "isError", "resultType", "_meta"})


class _Reader:
    """Reads messages one by one; a response is interpreted by its request."""

    def __init__(self) -> None:
        self._asked: dict[object, tuple[int, JsonObject]] = {}
        self.messages: list[Message] = []
        self.others: dict[int, JsonObject] = {}
        self.tools: list[ToolDeclaration] = []
        self.further: JsonObject = {}

    def take(self, item: JsonObject, at: int) -> None:
        """Read the message at a place of the log."""
        if "method" in item:
            self._asked[_key(item)] = (at, item)
        if _is_call(item):
            self._say(Message("assistant", (read_call(item),)), item, at)
            return
        answered, request = self._asked.get(_key(item), (-1, None)) if "id" in item else (-1, None)
        asked = word(request, "method")
        result = item.get("result", item)
        if asked in ("", CALL) and (_is_result(result) or (asked and is_object(item.get("error")))):
            self._say(Message("tool", (read_result(item),)), item, at)
        elif asked in ("", _LIST) and is_object(result) and is_array(result.get("tools")) and result["tools"]:
            plain = request is not None and "params" not in request and self.others.pop(answered, None) is not None
            exchange: list[JsonValue] = [[answered, request]] if plain else []
            self._declare(result, [*exchange, [at, item]])
        elif item.keys().isdisjoint(("method", "result", "error")):
            raise ParseError(f"/messages/{at}: expected a message of JSON-RPC, or its params or result")
        else:
            self.others[at] = item

    def _say(self, message: Message, item: JsonObject, at: int) -> None:
        message.origin, message.source, message.where = NAME, item, ("/messages", at)
        self.messages.append(message)

    def _declare(self, result: JsonObject, exchange: list[JsonValue]) -> None:
        found = _TOOLS.read_list(result["tools"])
        for number, tool in enumerate(found):
            tool.origin, tool.source = NAME, SharedSource(exchange, number, len(found))
        self.tools += found
        self.further |= rest(result, {"tools", "nextCursor"}, f"{NAME}.{_LIST}")


def _key(item: JsonObject) -> object:
    ident = item.get("id")
    return (type(ident), ident) if isinstance(ident, (str, int)) else None


def _is_call(item: JsonObject) -> bool:
    params = item.get("params") if item.get("method") == CALL else item if item.keys() <= _PARAMS else None
    return is_object(params) and bool(word(params, "name"))


def _is_result(value: JsonValue) -> bool:
    return is_object(value) and is_array(value.get("content")) and "role" not in value


def read(value: JsonValue) -> Transcript:
    """Read a log of messages, as a list or as text with one per line, or a single message."""
    reader = _Reader()
    for at, item in enumerate(_items(value)):
        if not is_object(item):
            raise ParseError(f"/messages/{at}: a message is an object, not {type(item).__name__}")
        reader.take(item, at)
    extra = reader.further
    if reader.others:
        extra[_OTHERS] = [[at, item] for at, item in reader.others.items()]
    return Transcript(tuple(reader.messages), tuple(reader.tools) or None, extra=extra)


def _items(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, str):
        return list(read_lines(value, NAME))
    if is_array(value):
        return value
    if not is_object(value):
        raise ParseError(f"{NAME}: expected a list of messages, their lines, or one message")
    listed = value.get("messages")
    return listed if is_array(listed) else [value]


_TOOLS: Final = Declaring(owner=NAME, schema="inputSchema", objects=True)


def write(transcript: Transcript) -> list[JsonValue]:
    """Write a log: the tools, then calls and results in their order."""
    written = [item for message in transcript.messages for item in _write_message(message)]
    kept, new = _declared(transcript.tools or ())
    kept.update(transcript.extra.get(_OTHERS, ()))
    items: list[JsonValue] = []
    for item in [*_write_tools(new, transcript), *written]:
        while len(items) in kept:
            items.append(kept.pop(len(items)))
        items.append(item)
    return [*items, *(kept[at] for at in sorted(kept))]


def _write_message(message: Message) -> list[JsonValue]:
    if message.origin == NAME:
        return [message.source]
    calls = [write_call(part) for part in message.parts if isinstance(part, CallPart)]
    return [*calls, *(write_result(part) for part in message.parts if isinstance(part, ResultPart))]


def _declared(tools: Sequence[ToolDeclaration]) -> tuple[dict[int, JsonValue], list[ToolDeclaration]]:
    """Return the unchanged exchanges that declare tools, by place, and the undeclared tools."""
    kept: dict[int, JsonValue] = {}
    new: list[ToolDeclaration] = []
    for exchange, run in kept_or_new(tools, NAME):
        kept.update(exchange or ())
        new += run
    return kept, new


def _write_tools(tools: Sequence[ToolDeclaration], transcript: Transcript) -> list[JsonValue]:
    written = _TOOLS.write_list(tools)
    if not written:
        return []
    parts = [part for message in transcript.messages for part in message.parts]
    taken = {part.id for part in parts if isinstance(part, (CallPart, ResultPart))}
    ident = _LIST
    while ident in taken:
        ident += "_"
    result: JsonObject = {"tools": written, **own(transcript.extra, f"{NAME}.{_LIST}")}
    return [{"jsonrpc": "2.0", "id": ident, "method": _LIST}, {"jsonrpc": "2.0", "id": ident, "result": result}]


def recognise(value: JsonValue) -> bool:
    """Recognise a log by its messages, a call by its arguments, a result by its content, a list by tools' schemas."""
    if isinstance(value, str):
        lines = first_lines(value)
        return all("jsonrpc" in line for line in lines) and any(map(_telling, lines))
    if not (is_object(value) or is_array(value)):
        return False
    return any(is_object(item) and _telling(item) for item in _items(value))


def _telling(item: JsonObject) -> bool:
    result = item.get("result", item)
    tools = result.get("tools") if is_object(result) else None
    return (
        item.get("method") in (CALL, _LIST)
        or (_is_call(item) and is_object(item.get("arguments")))
        or (_is_result(result) and result.keys() <= _RESULT)
        or (is_array(tools) and any("inputSchema" in tool for tool in tools if is_object(tool)))
    )


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="MCP: the messages of JSON-RPC that list tools, call them, and give back results.",
    read=read,
    write=write,
    session=True,
    recognise=recognise,
    rules=Rules(
        roles=frozenset({"assistant", "tool"}),
        unique_ids=True,
        result_kinds=ANYTHING | frozenset[Kind]({"json"}),
        user_kinds=frozenset(),
        assistant_kinds=frozenset(),
        empty_messages=False,
        neighbours="turn",
        results_follow=False,
        arguments="object",
        schema=MCP,
    ),
    aliases=("model-context-protocol",),
    sources=(
        Provenance("mcp, mcp_types", "source", "2.3.0", "MIT"),
        Provenance("Model Context Protocol, tools", "specification", "2025-11-25"),
    ),
)
