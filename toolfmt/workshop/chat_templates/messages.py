r"""Writes the messages of a conversation in the form that a template takes.

    fitted([{"role": "assistant", "content": None, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}]}], needs)
    ->     [{"role": "assistant", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]}]

The messages are those of the `hf-chat` format, with the ids of calls: transformers passes messages unchanged, and some
templates write the ids.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from toolfmt import jsontext
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.chat_request import read_request, write_request
from toolfmt.transcripts.datasets import hf_chat
from toolfmt.transcripts.loss import Loss
from toolfmt.workshop.chat_templates.needs import NO_CONTENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.workshop.chat_templates.needs import Needs

_SHAPE: Final = replace(hf_chat.SHAPE, call_ids=True)
FORMAT: Final = replace(
    hf_chat.FORMAT,
    read=partial(read_request, shape=_SHAPE),
    write=partial(write_request, shape=_SHAPE),
    rules=replace(hf_chat.FORMAT.rules, call_ids="optional"),
)
"""The conversation as transformers hands it to a template."""

_REASONING: Final = ("reasoning_content", "thinking", "reasoning")
"""The keys under which reasoning is passed; templates read the first, gpt-oss's the second."""


def fitted(messages: Iterable[JsonObject], needs: Needs) -> tuple[list[JsonValue], list[Loss]]:
    """Write messages as the template needs them, and return what has no place there."""
    lost: list[Loss] = []
    written: list[JsonValue] = []
    for at, message in enumerate(messages):
        made = {key: value for key, value in message.items() if value is not None}
        if is_array(made.get("tool_calls")):
            made["tool_calls"] = [_call(call, needs) for call in made["tool_calls"]]
            made = {**NO_CONTENT[needs.no_content], **made}
        if "content" in made:
            made["content"], missed = _content(made["content"], str(made.get("role")), needs, f"/messages/{at}")
            lost.extend(missed)
        thoughts = next((made[key] for key in _REASONING if key in made), None)
        if thoughts is not None:
            made = {"thinking": thoughts, **made, "reasoning_content": thoughts}
        written.append(made)
    return written, lost


def _call(call: JsonValue, needs: Needs) -> JsonValue:
    function = call.get("function") if is_object(call) else None
    if not is_object(call) or not is_object(function) or "arguments" not in function:
        return call
    return {**call, "function": {**function, "arguments": _arguments(function["arguments"], needs)}}


def _arguments(value: JsonValue, needs: Needs) -> JsonValue:
    """Give arguments in the template's form; text that is no JSON object stays what it is."""
    if needs.arguments == "text":
        return value if isinstance(value, str) else jsontext.dumps(value)
    if not isinstance(value, str):
        return value
    try:
        found: JsonValue = jsontext.loads(value or "{}")
    except ParseError:
        return value
    return found if is_object(found) else value


def _content(content: JsonValue, role: str, needs: Needs, path: str) -> tuple[JsonValue, Iterator[Loss]]:
    parts = role in needs.parts
    if isinstance(content, str) and parts and role not in needs.text:
        return [{"type": "text", "text": content}], iter(())
    if not is_array(content) or parts:
        return content, iter(())
    texts = [part["text"] for part in content if is_object(part) and isinstance(part.get("text"), str)]
    return "\n".join(texts), _lost_parts(content, len(texts), path)


def _lost_parts(content: list[JsonValue], texts: int, path: str) -> Iterator[Loss]:
    if texts > 1:
        yield Loss("boundary", path, "merged", f"{texts} texts: the template takes one")
    if texts < len(content):
        yield Loss("media", path, "dropped", f"{len(content) - texts} parts that are no text: the template takes text")
