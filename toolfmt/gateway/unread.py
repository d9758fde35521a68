"""Calls in the text of a model whose server does not read them: clients would take them for text, in silence.

    {"back": "local", "model": "qwen3-8b", "unread_call": "hermes", "advice": "the model writes its calls as text: ..."}

A server such as vLLM gives calls only if its tool parser is on. The first time that a model's answer to a request with
tools holds a call as text, the log says what to change; each such answer has a notice `unread_call`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from anyio import to_thread

from toolfmt.detection.unread_calls import UNREAD
from toolfmt.events import CallEnd, CallFailed, Event, TextDelta
from toolfmt.gateway.backs import Upstream
from toolfmt.jsontext import is_object
from toolfmt.lookup.registry import AUTO
from toolfmt.model import JsonObject, ToolDefinition
from toolfmt.parsing import parse
from toolfmt.transcripts.formats import find

_LONGEST: Final = 65536
"""Characters of an answer that are searched."""
_STRUCTURE: Final = frozenset("<{[(")
"""What every call has some of."""


async def unread_notices(
    upstream: Upstream, request: JsonObject, model: str, events: Iterable[Event]
) -> dict[str, str]:
    """Return the notice of an answer to a request with tools that holds a call as text, and log what to change.

    `request` is the one that the back was sent, `model` the client's name of the model.
    """
    text = ""
    for event in events:
        if isinstance(event, CallEnd | CallFailed):
            return {}
        if isinstance(event, TextDelta) and len(text) < _LONGEST:
            text += event.text
    if _STRUCTURE.isdisjoint(text):
        return {}
    dialect = await to_thread.run_sync(_dialect, text[:_LONGEST], request, upstream.format)
    if dialect is None:
        return {}
    advice = (
        "the model writes its calls as text: turn on the tool parser of its server, "
        f"or give the back api = text and dialect = {dialect} (--api text --dialect {dialect})"
    )
    upstream.find(UNREAD, model, dialect, advice)
    return {UNREAD: "1"}


def _dialect(text: str, request: JsonObject, format: str) -> str | None:  # noqa: A002 - the field's name
    """Name the dialect of the calls in a text, or `auto` for calls of no dialect; None if it has no call."""
    declared = find(format).read(request).tools or ()
    tools = {  # a client may declare a tool twice
        tool.name: ToolDefinition(name=tool.name, parameters=tool.parameters if is_object(tool.parameters) else {})
        for tool in declared
        if tool.kind == "function"
    }
    if not any(name in text for name in tools):
        return None
    result = parse(text, dialect=AUTO, tools=[*tools.values()])
    read = any(one.name in tools for one in (*result.calls, *result.failures))
    unread = any(notice.kind == UNREAD for notice in result.notices)
    return (result.dialect or AUTO) if read or unread else None
