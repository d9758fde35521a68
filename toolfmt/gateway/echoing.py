"""Fields of answers that repeat the request or are always present: strict clients require them.

{"temperature": 0.5}    {"id": "resp_1", "output": [...], "temperature": 0.5, "truncation": "disabled", ...}

A back of another API does not send them. Fields and defaults: Open Responses' specification of 2026-04-24
(`ResponseResource`), and anthropic 2.12, types/message.py, types/usage.py and types/tool_use_block.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, Protocol

from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue

_ASKED: Final[JsonObject] = {
    "previous_response_id": None,
    "instructions": None,
    "tools": [],
    "tool_choice": "auto",
    "truncation": "disabled",
    "parallel_tool_calls": True,
    "text": {"format": {"type": "text"}},
    "top_p": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "top_logprobs": 0,
    "temperature": 1.0,
    "reasoning": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "background": False,
    "service_tier": "default",
    "metadata": {},
    "safety_identifier": None,
    "prompt_cache_key": None,
}
"""The fields of a request that a response repeats, and their defaults."""
_TOOL: Final[JsonObject] = {"description": None, "parameters": None, "strict": None}
_USAGE: Final[JsonObject] = {
    "cache_creation": None,
    "inference_geo": None,
    "server_tool_use": None,
    "service_tier": None,
}
_MESSAGE: Final[JsonObject] = {"container": None, "stop_details": None}
_CALLER: Final[JsonObject] = {"caller": {"type": "direct"}}
"""Who calls a tool: the model itself, and no program that it has written."""


def completing(
    format: str,  # noqa: A002 - the field's name
    request: JsonObject,
    *,
    kept: bool,
    ended: int | None = None,
) -> Callable[[JsonObject], JsonObject] | None:
    """Return what completes an answer to a request, or an event of its stream.

    `kept`: it is in the store; `ended`: when it was complete, else that is now.
    """
    complete = _COMPLETING.get(format)
    asked: JsonObject = {**request, "store": kept, "completed_at": ended}
    return None if complete is None else partial(complete, request=asked)


def _response(value: JsonObject, request: JsonObject) -> JsonObject:
    """Complete a response, or the one that an event holds."""
    if is_object(inner := value.get("response")):
        return {**value, "response": _response(inner, request)}
    if value.get("object") != "response":
        return value
    settings = {key: default if request.get(key) is None else request[key] for key, default in _ASKED.items()}
    tools = settings["tools"]
    settings["tools"] = [_function(tool) for tool in tools] if is_array(tools) else []
    if is_object(text := settings["text"]):
        settings["text"] = {"format": {"type": "text"}, **text}
    ended = (request["completed_at"] or int(time.time())) if value.get("status") == "completed" else None
    return {"completed_at": ended, **value, **settings, "store": request["store"]}


def _function(tool: JsonValue) -> JsonValue:
    return {**_TOOL, **tool} if is_object(tool) and tool.get("type") == "function" else tool


def _anthropic(value: JsonObject, request: JsonObject) -> JsonObject:
    """Complete a message, or the one or the block that an event holds."""
    if is_object(message := value.get("message")):
        return {**value, "message": _anthropic(message, request)}
    if is_object(block := value.get("content_block")):
        return {**value, "content_block": _block(block)}
    content, usage = value.get("content"), value.get("usage")
    if value.get("type") != "message" or not is_array(content):
        return value
    found: JsonObject = {**_MESSAGE, **value, "content": [_block(one) for one in content]}
    return {**found, "usage": {**_USAGE, **usage}} if is_object(usage) else found


def _block(block: JsonValue) -> JsonValue:
    return {**block, **_CALLER} if is_object(block) and block.get("type") == "tool_use" else block


def _chat(value: JsonObject, request: JsonObject) -> JsonObject:  # noqa: ARG001 - as the others
    """Complete the messages of a whole answer; pieces of one have nothing of this."""
    choices = value.get("choices")
    return {**value, "choices": [_choice(one) for one in choices]} if is_array(choices) else value


def _choice(choice: JsonValue) -> JsonValue:
    message = choice.get("message") if is_object(choice) else None
    if not is_object(choice) or not is_object(message):
        return choice
    return {**choice, "message": {**message, "annotations": message.get("annotations", [])}}


def full_item(item: JsonObject) -> JsonObject:
    """Write an input item of Responses with the fields that clients expect in an answer."""
    content: JsonValue = item.get("content")
    if item.get("type", "message") != "message":
        return item
    if isinstance(content, str):
        theirs = item.get("role") == "assistant"
        part: JsonObject = {"type": "output_text" if theirs else "input_text", "text": content}
        content = [part | ({"annotations": []} if theirs else {})]
    return {"status": "completed", **item, "type": "message", "content": content}


class _Complete(Protocol):
    def __call__(self, value: JsonObject, /, request: JsonObject) -> JsonObject: ...


_COMPLETING: Final[Mapping[str, _Complete]] = {
    "openai-chat": _chat,
    "openai-responses": _response,
    "anthropic": _anthropic,
}
"""What completes the answers of an API; those of all others are complete."""
