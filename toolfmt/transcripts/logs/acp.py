r"""The log of a session of the Agent Client Protocol (ACP) between editors and agents: one update per line.

{"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s1", "update":
    {"sessionUpdate": "user_message_chunk", "messageId": "m1", "content": {"type": "text", "text": "Weather?"}}}}
{"sessionUpdate": "agent_thought_chunk", "messageId": "m2", "content": {"type": "text", "text": "One call."}}
{"sessionUpdate": "agent_message_chunk", "messageId": "m2", "content": {"type": "text", "text": "Checking."}}
{"sessionUpdate": "tool_call", "toolCallId": "call_A1", "title": "get_weather", "kind": "fetch", "status": "pending",
    "rawInput": {"city": "Paris"}}
{"sessionUpdate": "tool_call_update", "toolCallId": "call_A1", "status": "completed",
    "content": [{"type": "content", "content": {"type": "text", "text": "18C"}}]}
{"sessionUpdate": "plan", "entries": [{"content": "Look it up", "priority": "high", "status": "completed"}]}

The updates have the first form or stand alone, as text or as a list; the `prompt` of a `session/prompt` is a
user message. A call has a title and no name: the name is `toolName` in its `_meta`, if agents write one, or
the title. Updates of one call form one call with the latest data. Other lines are in the transcript's
`extra`. There is no place for instructions, tools, or proofs of reasoning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from toolfmt.conversation import (
    CallPart,
    Content,
    JsonPart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    RefusalPart,
    ResultPart,
    Role,
    TextPart,
    Transcript,
)
from toolfmt.dialect.record import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.format import JSON_RESULTS, TranscriptFormat
from toolfmt.transcripts.parts.mcp_content import read_block, write_block
from toolfmt.transcripts.parts.pieces import SharedSource, forget_ids, kept_or_new
from toolfmt.transcripts.parts.session_lines import first_lines, kept, read_lines
from toolfmt.transcripts.parts.values import (
    argument_value,
    arguments_at,
    give,
    inside,
    located,
    own,
    rest,
    tagged,
    word,
)

NAME: Final = "acp"
_UPDATE, _PROMPT = "session/update", "session/prompt"
_CHUNK: Final = frozenset({"sessionUpdate", "content", "messageId"})
_ROLES: Final[dict[str, Role]] = {
    "user_message_chunk": "user",
    "agent_message_chunk": "assistant",
    "agent_thought_chunk": "assistant",
}
_CALLS: Final = ("tool_call", "tool_call_update")
_CALL: Final = frozenset({"sessionUpdate", "toolCallId", "title", "status", "rawInput", "rawOutput", "content"})
_ID, _SESSION, _OUTPUT = (f"{NAME}.{key}" for key in ("messageId", "sessionId", "rawOutput"))


class _Session:
    """Builds a conversation from updates."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._calls: dict[str, tuple[CallPart, ResultPart, JsonObject]] = {}
        self._answered: set[str] = set()

    def say(self, role: Role, part: Part, ident: str, at: int, *, joins: bool = True) -> None:
        """Add a part to a message, or begin one; chunks of a text are joined."""
        last = self.messages[-1] if self.messages else None
        known = word(last.extra, _ID) if last is not None else ""
        if last is None or last.role != role or (ident and known and ident != known) or not joins:
            last = Message(role, extra={_ID: ident} if ident else {})
            last.where = ("", at)
            self.messages.append(last)
        match (*last.parts[-1:], part):
            case (TextPart() as before, TextPart()) | (ReasoningPart() as before, ReasoningPart()) if not (
                before.extra or part.extra
            ):
                before.text += part.text
            case _:
                last.parts += (part,)

    def call(self, update: JsonObject, at: int) -> None:
        """Process an update of a call; a completed call adds its result."""
        ident = word(update, "toolCallId")
        if ident not in self._calls:
            self._calls[ident] = CallPart("", id=ident), ResultPart(id=ident), {}
            if word(update, "title"):  # otherwise the call itself is not in the log
                self.say("assistant", self._calls[ident][0], "", at)
        call, result, state = self._calls[ident]
        state |= {key: value for key, value in update.items() if value is not None}
        meta, title = state.get("_meta"), word(state, "title")
        named = [name for item in (meta.values() if is_object(meta) else ()) if (name := word(item, "toolName"))]
        call.name = named[0] if named else title
        result.name = call.name or None
        try:
            give(call, arguments_at(state, "rawInput"))
        except ParseError as error:
            raise located(f"/{at}", error) from None
        call.extra = rest(state, _CALL - {"title"} if named else _CALL, NAME)
        result.is_error = state.get("status") == "failed"
        result.content = _read_result(state, result)
        if state.get("status") in ("completed", "failed"):
            self._answer(ident, result, at)

    def _answer(self, ident: str, result: ResultPart, at: int) -> None:
        if ident not in self._answered:
            self._answered.add(ident)
            self.messages.append(Message("tool", (result,)))
            self.messages[-1].where = ("", at)

    def end(self, lines: list[JsonObject]) -> None:
        """Add the content of calls that were never completed as results, and note the source of each message."""
        for ident, (_, result, _) in self._calls.items():
            if result.content:
                self._answer(ident, result, len(lines))
        count = len(self.messages)
        for number, message in enumerate(self.messages):
            message.origin = NAME
            message.source = lines if count == 1 else SharedSource(lines, number, count)


def _read_result(state: JsonObject, result: ResultPart) -> tuple[Content, ...]:
    """Read a call's content, or else its raw output."""
    items, output = state.get("content"), state.get("rawOutput")
    shown = [_read_content(item) for item in items] if is_array(items) else []
    if shown:
        result.extra = {} if output is None else {_OUTPUT: output}
        return tuple(shown)
    if output is None or output == "":
        return ()
    return (TextPart(output) if isinstance(output, str) else JsonPart(output),)


def _read_content(item: JsonValue) -> Content:
    if word(item, "type") == "content" and is_object(item):
        return _read_block(item.get("content"))
    text = word(item, "newText")
    return OpaquePart(NAME, item, (tagged("diff", text, path=word(item, "path")),) if text else ())


def _read_block(item: JsonValue) -> Content:
    part = read_block(item)
    if not isinstance(part, OpaquePart):
        return part
    link = word(item, "uri")
    return OpaquePart(NAME, item, (TextPart(f"[{word(item, 'name') or link}]({link})"),) if link else ())


def read(value: JsonValue) -> Transcript:
    """Read the lines of a log, as a list or as text."""
    session, lines = _Session(), read_lines(value, NAME)
    others: list[tuple[int, JsonObject]] = []
    extra: JsonObject = {}
    for at, line in enumerate(lines):
        params = line["params"] if is_object(line.get("params")) else line
        prompt, update = params.get("prompt"), params.get("update", params)
        kind = word(update, "sessionUpdate")
        if line.get("method") == _PROMPT and is_array(prompt):
            for number, block in enumerate(prompt):
                session.say("user", _read_block(block), "", at, joins=number > 0)
        elif kind in _ROLES:
            part: Part = _read_block(update.get("content"))
            if kind == "agent_thought_chunk" and isinstance(part, TextPart):
                part = ReasoningPart(part.text, extra=part.extra)
            session.say(_ROLES[kind], part, word(update, "messageId"), at)
            session.messages[-1].extra |= inside(update, _CHUNK, NAME, "update")
        elif kind in _CALLS:
            session.call(update, at)
        elif kind == "plan":
            session.say("assistant", OpaquePart(NAME, update, _plan(update)), "", at)
        else:
            others.append((at, line))
            continue
        extra |= {_SESSION: params["sessionId"]} if "sessionId" in params else {}
    if others and len(others) == len(lines):
        raise ParseError(f"{NAME}: no line is an update of a session")
    session.end(lines)
    extra |= kept(others, session.messages, NAME, frozenset())
    return forget_ids(Transcript(tuple(session.messages), extra=extra), _ID, "message-")


def _plan(update: JsonObject) -> tuple[TextPart, ...]:
    entries = update.get("entries")
    lines = [f"- {word(item, 'content')} ({word(item, 'status')})" for item in entries] if is_array(entries) else []
    return (tagged("plan", "\n".join(lines)),) if lines else ()


def write(transcript: Transcript) -> JsonValue:
    """Write a list of notifications; an unchanged log is written as it was read."""
    beside = own(transcript.extra, NAME)
    session = beside.get("sessionId", "session")
    lines: list[JsonValue] = []
    for old, new in kept_or_new(transcript.messages, NAME):
        lines += old if is_array(old) else () if lines else beside.get("lines", ())
        for message in new:
            updates = _write_message(message, f"message-{len(lines)}")
            named = [{"sessionId": session, "update": update} for update in updates]
            lines += [{"jsonrpc": "2.0", "method": _UPDATE, "params": params} for params in named]
    return lines


def _write_message(message: Message, start: str) -> Iterator[JsonObject]:
    named = {"messageId": message.extra.get(_ID, start)}
    speaker = "user_message_chunk" if message.role == "user" else "agent_message_chunk"
    before: type[Part] | None = None
    for at, part in enumerate(message.parts):
        if type(part) is before:  # texts of one message form one text
            named = {"messageId": f"{message.extra.get(_ID, start)}.{at}"}
        before = type(part) if isinstance(part, TextPart | ReasoningPart) else None
        if isinstance(part, CallPart):
            update: JsonObject = {"toolCallId": part.id, "title": part.name, "status": "pending"}
            yield {"sessionUpdate": _CALLS[0], **update, "rawInput": argument_value(part), **own(part.extra, NAME)}
        elif isinstance(part, ResultPart):
            update = {"toolCallId": part.id, "status": "failed" if part.is_error else "completed"}
            yield {"sessionUpdate": _CALLS[1], **update, **_write_result(part.content), **own(part.extra, NAME)}
        elif isinstance(part, OpaquePart) and word(part.value, "sessionUpdate"):
            yield part.value
        elif isinstance(part, ReasoningPart):
            block = write_block(TextPart(part.text, extra=part.extra))
            yield {"sessionUpdate": "agent_thought_chunk", **named, "content": block}
        elif (block := _write_block(TextPart(part.text) if isinstance(part, RefusalPart) else part)) is not None:
            yield {"sessionUpdate": speaker, **named, "content": block}


def _write_result(content: Sequence[Content]) -> JsonObject:
    if len(content) == 1 and isinstance(content[0], JsonPart):
        return {"rawOutput": content[0].value}
    return {"content": [item for part in content if (item := _write_content(part)) is not None]}


def _write_content(part: Content) -> JsonValue:
    block = _write_block(part)
    whole = isinstance(part, OpaquePart) and word(block, "type") in ("diff", "terminal")
    return block if block is None or whole else {"type": "content", "content": block}


def _write_block(part: Content) -> JsonValue:
    return part.value if isinstance(part, OpaquePart) and part.owner == NAME else write_block(part)


def recognise(value: JsonValue) -> bool:
    """Recognise a log by its method, or by typed updates."""
    return any(
        line.get("method") in (_UPDATE, _PROMPT) or word(line.get("update", line), "sessionUpdate")
        for line in first_lines(value)
    )


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="Agent Client Protocol: the log of a session's updates, by which editors show what an agent does.",
    read=read,
    write=write,
    session=True,
    recognise=recognise,
    rules=replace(JSON_RESULTS, roles=frozenset({"user", "assistant", "tool"}), unique_ids=True, empty_messages=False),
    aliases=("agent-client-protocol",),
    sources=(Provenance("agent-client-protocol, acp.schema", "source", "0.12.1", "Apache-2.0"),),
)
