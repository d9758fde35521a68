"""Write records of calls as messages, in any transcript format, or as text in any dialect.

    to_messages(executions)                      (Message("assistant", calls), Message("tool", results))
    write_messages(executions, "anthropic")      Conversion(value={"messages": [{"role": "assistant", ...}, ...]})
    results_text(executions, dialect="react")    "Observation: 18C"

A call without an id, or with the id of an earlier call, is linked to its result by the execution's id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Unpack

from toolfmt.arguments import checked
from toolfmt.conversation import CallPart, Content, JsonPart, MediaPart, Message, ResultPart, TextPart, Transcript
from toolfmt.execution.records import ToolExecution
from toolfmt.ids import IdPolicy, assign
from toolfmt.lookup.choice import Choice
from toolfmt.model import Media, ToolResult
from toolfmt.rendering import render_results
from toolfmt.transcripts.convert import Conversion, write

ERROR: Final = "Error: "
"""Precedes an error in a format that has no flag for errors."""


@checked
def to_messages(executions: Sequence[ToolExecution], *, ids: IdPolicy | None = None) -> tuple[Message, ...]:
    """Make a message with the calls and one with their results; without executions, no messages.

    The calls are those that ran, after the hooks. `ids` generates ids of a provider's shape for calls without one.
    """
    if not executions:
        return ()
    linked = _linked(executions, ids)
    calls = (CallPart.of(one.call.model_copy(update={"id": id})) for one, id in linked)  # noqa: A001 - the field's name
    results = (result_part(one.result, id) for one, id in linked)  # noqa: A001 - the same
    return Message("assistant", tuple(calls)), Message("tool", tuple(results))


def result_part(result: ToolResult, id: str | None = None) -> ResultPart:  # noqa: A002 - the field's name
    """Make the part of a message that holds a result; `id`, where given, is the call's that it answers."""
    content = (
        ()
        if result.content is None and result.media
        else (TextPart(result.content) if isinstance(result.content, str) else JsonPart(result.content),)
    )
    parts: tuple[Content, ...] = (*content, *map(_media, result.media))
    return ResultPart(parts, id=result.id if id is None else id, name=result.name, is_error=result.is_error)


@checked
def write_messages(
    executions: Sequence[ToolExecution], target: str, *, ids: IdPolicy | None = None, strict: bool = False
) -> Conversion:
    """Write the calls and their results in a transcript format, like `toolfmt.convert`.

    Raises `ConversionError` with all losses under `strict`, and `LookupError` for a format that does not exist.
    """
    messages = to_messages(executions, ids=ids)
    written = write(Transcript(messages), target)
    if any(loss.code == "error_flag" for loss in written.losses):
        messages = tuple(map(in_words, messages))
    return write(Transcript(messages), target, strict=strict)


def in_words(message: Message) -> Message:
    """Mark results that are errors in their text, for a format that has no flag for errors."""
    parts = (after_text(ERROR, one) if isinstance(one, ResultPart) and one.is_error else one for one in message.parts)
    return replace(message, parts=tuple(parts))


@checked
def results_text(executions: Sequence[ToolExecution], *, tools: object = None, **choice: Unpack[Choice]) -> str:
    """Write the results for a model in a text dialect, like `toolfmt.render_results`."""
    return render_results([one.result for one in executions], tools=tools, **choice)


def _linked(executions: Sequence[ToolExecution], ids: IdPolicy | None) -> list[tuple[ToolExecution, str]]:
    calls = [one.call for one in executions]
    minted = calls if ids is None else assign(calls, ids)
    seen: set[str] = set()
    linked: list[tuple[ToolExecution, str]] = []
    for execution, call in zip(executions, minted, strict=True):
        id = execution.id if call.id is None or call.id in seen else call.id  # noqa: A001 - the field's name
        seen.add(id)
        linked.append((execution, id))
    return linked


def after_text(text: str, part: ResultPart) -> ResultPart:
    """Put a text before the content of a result."""
    first, *rest = part.content or (TextPart(""),)
    begun = (replace(first, text=f"{text}{first.text}"),) if isinstance(first, TextPart) else (TextPart(text), first)
    return replace(part, content=(*begun, *rest))


def _media(media: Media) -> MediaPart:
    return MediaPart(media.kind, media.media_type, media.data, media.url, name=media.name)
