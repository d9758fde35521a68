"""The AI SDK's UIMessage, which applications keep: all steps of an answer in one message, results beside their calls.

{"messages": [
    {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Weather?"}]},
    {"id": "m2", "role": "assistant", "parts": [
        {"type": "step-start"},
        {"type": "reasoning", "text": "One call.", "providerMetadata": {"anthropic": {"signature": "EqQB"}}},
        {"type": "tool-get_weather", "toolCallId": "call_A1", "state": "output-available",
            "input": {"city": "Paris"}, "output": "18C"},
        {"type": "step-start"},
        {"type": "text", "text": "18C."}]}]}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from toolfmt.conversation import CallPart, Message, OpaquePart, Part, ResultPart, Role, Transcript
from toolfmt.dialect import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.format import ANYTHING, Rules, TranscriptFormat
from toolfmt.transcripts.pieces import kept_or_new, sourced
from toolfmt.transcripts.values import own, rest, word
from toolfmt.transcripts.vercel_steps import NAME, is_tool, read_part, read_tool, write_part, write_tool

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

_ROLES: Final[dict[str, Role]] = {"system": "system", "user": "user", "assistant": "assistant"}
_MESSAGE: Final = frozenset({"role", "parts"})
_ID: Final = f"{NAME}.id"


def read(value: JsonValue) -> Transcript:
    """Read a chat's object or a list of messages."""
    items = value.get("messages") if is_object(value) else value
    if not is_array(items):
        raise ParseError(f"{NAME}: expected a list of messages, or an object with `messages`")
    found = [message for at, item in enumerate(items) for message in _read_message(item, at)]
    return Transcript(tuple(found), extra=rest(value, {"messages"}, NAME) if is_object(value) else {})


def _read_message(item: JsonValue, at: int) -> Sequence[Message]:
    role = _ROLES.get(word(item, "role"))
    if role is None or not is_array(item.get("parts")):
        raise ParseError(f"/messages/{at}: expected a message with a role and parts")
    extra = rest(item, _MESSAGE, NAME)
    if extra.get(_ID) == _ident(at):
        del extra[_ID]
    if role == "assistant":
        messages = list(_steps(item["parts"])) or [Message(role)]
        messages[0].extra = extra
    else:
        messages = [Message(role, tuple(map(read_part, item["parts"])), extra=extra)]
    return sourced(messages, NAME, item, ("/messages", at))


def _ident(at: int) -> str:
    """Name a message by its place, where nobody has named it."""
    return f"message-{at}"


def _steps(items: list[JsonValue]) -> Iterator[Message]:
    """Read the steps of an answer: each a message, and its results behind it."""
    parts: list[Part] = []
    results: list[ResultPart] = []
    for item in [*items, _STEP]:
        if word(item, "type") == "step-start" and len(item) == 1:
            if parts:
                yield Message("assistant", tuple(parts))
                yield from (Message("tool", (result,)) for result in results)
            parts, results = [], []
        elif is_tool(item) and item.get("providerExecuted"):
            parts.append(OpaquePart(NAME, item, tuple(said for said in read_tool(item) if said is not None)))
        elif is_tool(item):
            call, result = read_tool(item)
            parts.append(call)
            results += [] if result is None else [result]
        else:
            parts.append(read_part(item))


_STEP: Final[JsonObject] = {"type": "step-start"}


def write(transcript: Transcript) -> JsonValue:
    """Write a list of messages, or a chat's object where there is more to say."""
    items: list[JsonValue] = []
    number = -1
    taken = {message.extra[_ID] for message in transcript.messages if word(message.extra, _ID)}
    for kept, new in kept_or_new(transcript.messages, NAME, answered_inside=True):
        if not new:
            items.append(kept)
        for run in _answers(new):
            item = _write_run(run)
            if item is not None:
                number = _free(max(len(items), number + 1), taken)
                items.append({"id": _ident(number), **item})
    beside = own(transcript.extra, NAME)
    return {**beside, "messages": items} if beside else items


def _free(at: int, taken: set[str]) -> int:
    """Find a number from `at` on whose id is free."""
    while _ident(at) in taken:
        at += 1
    taken.add(_ident(at))
    return at


def _answers(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """Split messages where another speaks, or where another message's own fields begin."""
    run: list[Message] = []
    for message in messages:
        answers = message.role == "tool" or (message.role == "assistant" and not message.extra)
        if run and not (answers and run[0].role in ("assistant", "tool")):
            yield run
            run = []
        run.append(message)
    if run:
        yield run


def _write_run(run: list[Message]) -> JsonObject | None:
    first = run[0]
    if first.role in ("assistant", "tool"):
        role, parts = "assistant", [part for step in _of_steps(run) for part in _write_step(step)]
    else:
        role = "user" if first.role == "user" else "system"
        parts = [part for found in first.parts if (part := write_part(found)) is not None]
    return {"role": role, "parts": parts, **own(first.extra, NAME)} if parts else None


def _of_steps(run: list[Message]) -> Iterator[list[Message]]:
    step: list[Message] = []
    for message in run:
        if message.role == "assistant" and step:
            yield step
            step = []
        step.append(message)
    yield step


def _write_step(step: list[Message]) -> list[JsonValue]:
    """Write a message and the results that follow it; a result goes into the part of its call."""
    results: dict[str | None, ResultPart] = {}
    for message in step:
        for part in message.parts:
            if isinstance(part, ResultPart):
                results.setdefault(part.id, part)
    parts: list[JsonValue] = [_STEP]
    for message in step:
        for part in message.parts:
            if isinstance(part, CallPart):
                parts.append(write_tool(part, results.pop(part.id, None)))
            elif message.role == "assistant" or isinstance(part, OpaquePart):
                written = write_part(part)
                parts += [] if written is None else [written]
    return parts if len(parts) > 1 else []


def recognise(value: JsonValue) -> bool:
    """Tell messages by their parts: steps, tools with their state, texts under `text`, files with a `mediaType`."""
    items = value.get("messages") if is_object(value) else value
    return is_array(items) and any(
        word(part, "type") == "step-start"
        or is_tool(part)
        or (word(part, "type") in ("text", "reasoning") and "text" in part)
        or "mediaType" in part
        for item in items
        if is_object(item) and word(item, "role") and is_array(item.get("parts"))
        for part in item["parts"]
        if is_object(part)
    )


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="The AI SDK's UIMessage: all steps of an answer in one message, results beside their calls.",
    read=read,
    write=write,
    recognise=recognise,
    rules=Rules(
        roles=frozenset({"system", "user", "assistant", "tool"}),
        result_kinds=frozenset({"text", "json"}),
        user_kinds=ANYTHING,
        assistant_kinds=ANYTHING,
        empty_messages=False,
        joined_answers=True,
        arguments="any",
    ),
    aliases=("ai-sdk-ui", "vercel-uimessage"),
    sources=(
        Provenance(
            reference="ai, UIMessage and validateUIMessages", revision="6.0.326", kind="source", license="Apache-2.0"
        ),
    ),
)
