"""The AI SDK's UIMessage, as stored by applications: one message for all steps of an answer, results with their calls.

{"messages": [
    {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Weather?"}]},
    {"id": "m2", "role": "assistant", "parts": [
        {"type": "step-start"},
        {"type": "reasoning", "text": "One call.", "providerMetadata": {"anthropic": {"signature": "EqQB"}}},
        {"type": "tool-get_weather", "toolCallId": "call_A1", "state": "output-available",
            "input": {"city": "Paris"}, "output": "18C"},
        {"type": "step-start"},
        {"type": "dynamic-tool", "toolName": "get_weather", "toolCallId": "call_B2", "state": "output-error",
            "input": {"city": "Atlantis"}, "errorText": "unknown city"},
        {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,iVBORw0KGgo"}]}]}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from toolfmt.conversation import (
    CallPart,
    Content,
    JsonPart,
    MediaPart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    ResultPart,
    Role,
    TextPart,
)
from toolfmt.dialect.record import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.format import ALL_KINDS, TranscriptFormat
from toolfmt.transcripts.frameworks.vercel_parts import taken
from toolfmt.transcripts.frameworks.vercel_ui_4 import is_older, modern
from toolfmt.transcripts.parts.citations import cited, sourced
from toolfmt.transcripts.parts.media import from_url, kind_of, known_type
from toolfmt.transcripts.parts.pieces import runs
from toolfmt.transcripts.parts.values import argument_value, arguments_at, content_text, own, rest, word
from toolfmt.transcripts.tables.blocks import PartRow, PartTable
from toolfmt.transcripts.tables.fields import PartField, option, text
from toolfmt.transcripts.tables.request import RequestTable, objects_in

NAME: Final = "vercel-ui"
_PREFIX: Final = "tool-"
_DYNAMIC: Final = "dynamic-tool"
_TOOL: Final = frozenset({"type", "toolName", "toolCallId", "state", "input", "output", "errorText"})
_CALLED: Final = frozenset({"input-available", "approval-requested", "approval-responded"})
_STATES: Final = _CALLED | {"output-available", "output-error", "output-denied"}
_RAW: Final = f"{NAME}.rawInput"
_CALLED_WITH: Final = taken(NAME, "callProviderMetadata")


def _is_tool(item: JsonValue) -> bool:
    """Whether a part is a call with complete input."""
    kind = word(item, "type")
    return (
        (kind.startswith(_PREFIX) or (kind == _DYNAMIC and isinstance(item.get("toolName"), str)))
        and isinstance(item.get("toolCallId"), str)
        and word(item, "state") in _STATES
    )


def _read_tool(item: JsonObject) -> tuple[CallPart, ResultPart | None]:
    dynamic, ident, state = item["type"] == _DYNAMIC, item["toolCallId"], item["state"]
    call = CallPart(item["toolName"] if dynamic else item["type"][len(_PREFIX) :], id=ident)
    _CALLED_WITH[0](item, call, _TOOL)
    given = item.get("input") if "rawInput" in item else arguments_at(item, "input")
    if given is None and isinstance(call.extra.get(_RAW), str):
        given = call.extra.pop(_RAW)
    call.text, call.arguments = (given, None) if isinstance(given, str) else (None, given)
    if dynamic:
        call.extra[f"{NAME}.type"] = _DYNAMIC
    output: JsonValue = item.get("output")
    if state != "output-available":
        output = word(item, "errorText") if state == "output-error" else word(item.get("approval"), "reason")
    if state not in ("input-available", "output-available", "output-error"):
        call.extra[f"{NAME}.state"] = state
    if not state.startswith("output-"):
        return call, None
    content: Content = TextPart(output) if isinstance(output, str) else JsonPart(output)
    return call, ResultPart((content,) if output != "" else (), ident, None, state != "output-available")


def _write_tool(call: CallPart, result: ResultPart | None) -> JsonObject:
    kind, state = call.extra.get(f"{NAME}.type", _PREFIX + call.name), call.extra.get(f"{NAME}.state")
    item: JsonObject = {
        "type": kind,
        "toolCallId": call.id,
        "state": state or "input-available",
        "input": argument_value(call),
    }
    item = _CALLED_WITH[1](item, call)
    if kind == _DYNAMIC:
        item["toolName"] = call.name
    if result is None or (result.is_error and state == "output-denied"):
        return item
    if result.is_error:
        return item | {"state": "output-error", "errorText": content_text(result.content)}
    alone = result.content[0] if len(result.content) == 1 else None
    output = alone.value if isinstance(alone, JsonPart) else content_text(result.content)
    return item | {"state": "output-available", "output": output}


def _read_file(item: JsonObject, part: MediaPart) -> bool:
    address, media_type = word(item, "url"), word(item, "mediaType")
    found = from_url(address, kind_of(media_type))
    part.kind, part.url, part.data = found.kind, found.url, found.data
    part.media_type = "" if media_type.endswith("/*") else media_type
    return bool(address and media_type)


def _write_file(part: MediaPart, item: JsonObject) -> bool:
    kind = known_type(part)
    item |= {"mediaType": kind, "url": part.url if part.data is None else f"data:{kind};base64,{part.data}"}
    return item["url"] is not None


_FILE: Final = PartField(("mediaType", "url"), _read_file, _write_file)
BLOCKS: Final = PartTable(
    NAME,
    (
        PartRow("text", TextPart, text("text")),
        PartRow("reasoning", ReasoningPart, text("text")),
        PartRow("file", MediaPart, option("filename", "name"), _FILE),
    ),
    further=taken(NAME, "providerMetadata"),
)


def _read_message(item: JsonObject, role: Role) -> Sequence[Message]:
    if item["role"] == "data":
        return [Message(role, (OpaquePart(NAME, item),))]
    content = item.get("content")
    if not is_array(item.get("parts")) and not (isinstance(content, str) or "toolInvocations" in item):
        raise ParseError(": expected a message with parts")
    item = modern(item) if is_older(item) else item
    extra = rest(item, {"role", "parts"}, NAME)
    if role == "assistant":
        messages = list(_steps(item["parts"])) or [Message(role)]
        messages[0].extra = extra
    else:
        messages = [Message(role, BLOCKS.read_key(item, "parts"), extra=extra)]
    return messages


def _steps(items: list[JsonValue]) -> Iterator[Message]:
    """Read the steps of an answer: each becomes a message, followed by its results."""
    parts: list[Part] = []
    results: list[ResultPart] = []
    for item in [*items, _STEP]:
        if word(item, "type") == "step-start" and len(item) == 1:
            if parts:
                yield Message("assistant", tuple(parts))
                yield from (Message("tool", (result,)) for result in results)
            parts, results = [], []
        elif _is_tool(item) and item.get("providerExecuted"):
            parts.append(OpaquePart(NAME, item, tuple(output for output in _read_tool(item) if output is not None)))
        elif _is_tool(item):
            call, result = _read_tool(item)
            parts.append(call)
            results += [] if result is None else [result]
        else:
            _say(BLOCKS.read(item), parts)


def _say(part: Part, parts: list[Part]) -> None:
    """Add a part; a source URL becomes a citation of the text before it."""
    text = next((found for found in reversed(parts) if isinstance(found, TextPart)), None)
    if isinstance(part, OpaquePart) and _cites(part.value) and text is not None:
        text.citations = (*text.citations, part.value)
    else:
        parts.append(part)


def _cites(item: JsonValue) -> bool:
    return word(item, "type") == "source-url" and bool(word(item, "url"))


_STEP: Final[JsonObject] = {"type": "step-start"}


def _answers(run: list[Message], message: Message) -> bool:
    """Whether a message belongs to the current answer; a message with its own fields begins another."""
    follows = message.role == "tool" or (message.role == "assistant" and not message.extra)
    return follows and run[0].role in ("assistant", "tool")


def _write_run(run: Sequence[Message]) -> list[JsonValue]:
    first = run[0]
    role: Role = "assistant" if first.role == "tool" else first.role
    if role == "assistant":
        steps = runs(run, lambda _, message: message.role != "assistant")
        parts = [part for step in steps for part in _write_step(step)]
    else:
        parts = BLOCKS.write_list(first.parts)
    return [{"role": _TABLE.words[role], "parts": parts, **own(first.extra, NAME)}] if parts else []


def _write_step(step: list[Message]) -> list[JsonValue]:
    """Write a message and the results after it; a result goes into its call's part."""
    results: dict[str | None, ResultPart] = {}
    for message in step:
        for part in message.parts:
            if isinstance(part, ResultPart):
                results.setdefault(part.id, part)
    parts: list[JsonValue] = [_STEP]
    for message in step:
        for part in message.parts:
            if isinstance(part, CallPart):
                parts.append(_write_tool(part, results.pop(part.id, None)))
            elif message.role == "assistant" or isinstance(part, OpaquePart):
                written = BLOCKS.write(part)
                parts += [] if written is None else [written]
                parts += cited(part, sourced, _cites) if isinstance(part, TextPart) else []
    return parts if len(parts) > 1 else []


_TABLE: Final = RequestTable(
    owner=NAME,
    roles={"system": "system", "user": "user", "assistant": "assistant", "data": "user"},
    blocks=BLOCKS,
    read_message=_read_message,
    write_run=_write_run,
    joins=_answers,
    answered_inside=True,
    request=False,
    ids=("id", "message-"),
)


_OLDER: Final = ("toolInvocations", "experimental_attachments")


def recognise(value: JsonValue) -> bool:
    """Recognise messages by their parts: steps, tools with their state, texts under `text`, files with `mediaType`.

    Those of the AI SDK 4 may have `toolInvocations` and attachments instead.
    """
    return any(not item.keys().isdisjoint(_OLDER) for item in objects_in(value)) or any(
        word(part, "type") == "step-start"
        or _is_tool(part)
        or (word(part, "type") in ("text", "reasoning") and "text" in part)
        or "mediaType" in part
        for item in objects_in(value)
        if word(item, "role") and is_array(item.get("parts"))
        for part in objects_in(item["parts"])
    )


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="The AI SDK's UIMessage: all steps of an answer in one message, results beside their calls.",
    read=_TABLE.read,
    write=_TABLE.write,
    recognise=recognise,
    rules=replace(ALL_KINDS, result_kinds=frozenset({"text", "json"}), empty_messages=False),
    aliases=("ai-sdk-ui", "vercel-uimessage"),
    sources=(Provenance("ai, UIMessage and validateUIMessages", "source", "6.0.326", "Apache-2.0"),),
)
