"""The AI SDK 4's UIMessage in the words of the later ones.

{"role": "assistant", "content": "18C.", "toolInvocations": [
    {"state": "result", "toolCallId": "call_A1", "toolName": "get_weather", "args": {"city": "Paris"},
        "result": "18C"}]}

is read as

{"role": "assistant", "parts": [
    {"type": "tool-get_weather", "toolCallId": "call_A1", "state": "output-available",
        "input": {"city": "Paris"}, "output": "18C"},
    {"type": "step-start"},
    {"type": "text", "text": "18C."}]}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from toolfmt.jsontext import is_array
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.parts.values import inner, objects_at, word
from toolfmt.transcripts.tables.request import objects_in

_STATES: Final = {"call": "input-available", "result": "output-available"}
_INVOKED: Final = "tool-invocation"


def is_older(item: JsonObject) -> bool:
    """Whether a message is the AI SDK 4's: it has keys or parts that later ones do not have."""
    return not is_array(item.get("parts")) or any(_is_older(part) for part in objects_in(item, "parts"))


def _is_older(part: JsonObject) -> bool:
    kind = part.get("type")
    return kind in (_INVOKED, "source") or (kind == "reasoning" and "reasoning" in part) or "mimeType" in part


def modern(item: JsonObject) -> JsonObject:
    """Write a message as the AI SDK 5 and later do; texts that the message repeats beside its parts are left out."""
    known = {"parts", "content", "reasoning", "toolInvocations", "experimental_attachments"}
    made = {key: value for key, value in item.items() if key not in known}
    content = item.get("content")
    parts = objects_at(item, "parts") if is_array(item.get("parts")) else [*_listed(item)]
    said = "".join(word(part, "text") for part in parts)
    if isinstance(content, str) and not said.endswith(content):  # beside several steps it is the last one's text
        made["content"] = content
    made["parts"] = [*_steps(parts), *map(_attached, objects_at(item, "experimental_attachments"))]
    return made


def _listed(item: JsonObject) -> Iterator[JsonObject]:
    """List the parts of a message that has none: its text follows the results of its calls."""
    for invoked in objects_at(item, "toolInvocations"):
        yield {"type": _INVOKED, "toolInvocation": invoked}
    if word(item, "reasoning"):
        yield {"type": "reasoning", "reasoning": item["reasoning"]}
    if word(item, "content"):
        yield {"type": "text", "text": item["content"]}


def _steps(parts: list[JsonObject]) -> Iterator[JsonValue]:
    """Give the parts their later words; a new step begins after calls, and with a call of another step."""
    called: JsonValue = None
    for part in parts:
        kind = word(part, "type")
        step = inner(part, "toolInvocation").get("step", 0) if kind == _INVOKED else None
        if called is not None and step != called and kind not in ("step-start", "source"):
            yield {"type": "step-start"}
        called = called if kind == "source" else step
        yield from _MODERN[kind](part) if kind in _MODERN else (part,)


def _reasoning(part: JsonObject) -> Iterator[JsonObject]:
    for detail in objects_in(part, "details") or [{"text": part.get("reasoning", part.get("text"))}]:
        proofs = {"signature": detail.get("signature"), "redactedData": detail.get("data")}
        proof = {key: value for key, value in proofs.items() if value is not None}
        signed = {"providerMetadata": {"anthropic": proof}} if proof else {}
        yield {"type": "reasoning", "text": detail.get("text", ""), **signed}


def _invoked(part: JsonObject) -> Iterator[JsonObject]:
    invoked = inner(part, "toolInvocation")
    if (state := _STATES.get(word(invoked, "state"))) is None:
        yield part
        return
    output = {"output": invoked.get("result")} if state == "output-available" else {}
    about = {"toolCallId": invoked.get("toolCallId"), "state": state, "input": invoked.get("args")}
    yield {"type": f"tool-{word(invoked, 'toolName')}", **about, **output}


def _source(part: JsonObject) -> Iterator[JsonObject]:
    source = inner(part, "source")
    beside = {key: value for key, value in source.items() if key not in ("sourceType", "id")}
    yield {"type": f"source-{source.get('sourceType', 'url')}", "sourceId": source.get("id"), **beside}


def _file(part: JsonObject) -> Iterator[JsonObject]:
    data = part.get("data")
    if isinstance(data, str) and word(part, "mimeType"):
        yield {"type": "file", "mediaType": part["mimeType"], "url": f"data:{part['mimeType']};base64,{data}"}
    else:
        yield part


def _attached(item: JsonObject) -> JsonObject:
    named = {"filename": item["name"]} if "name" in item else {}
    return {"type": "file", "mediaType": item.get("contentType"), "url": item.get("url"), **named}


_MODERN: Final[Mapping[str, Callable[[JsonObject], Iterator[JsonObject]]]] = {
    "reasoning": _reasoning,
    _INVOKED: _invoked,
    "source": _source,
    "file": _file,
}
