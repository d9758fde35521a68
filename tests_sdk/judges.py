"""The providers' own types for a request, by the format that they judge; what they refuse raises.

JUDGES["anthropic"]({"messages": [{"role": "user", "content": "Hi"}]})
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Literal, NotRequired

from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from closed import closed
from cohere.types import ChatMessageV2, ResponseFormatV2, Thinking, ToolV2
from converse import converse
from google.genai import types as gemini
from google.genai.interactions import CreateModelInteraction
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult
from mistralai.client.models import ChatCompletionRequestTypedDict
from ollama import Message, Options, Tool
from ollama._types import ChatRequest
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import BaseModel, TypeAdapter
from typing_extensions import TypedDict


class Gemini(TypedDict):
    """A request to `generateContent`, which the SDK takes apart into arguments."""

    contents: list[gemini.Content]
    systemInstruction: NotRequired[gemini.Content]
    tools: NotRequired[list[gemini.Tool]]
    toolConfig: NotRequired[gemini.ToolConfig]
    generationConfig: NotRequired[gemini.GenerationConfig]
    serviceTier: NotRequired[gemini.ServiceTier]
    labels: NotRequired[dict[str, str]]
    store: NotRequired[bool]


class Cohere(TypedDict):
    """A request to `v2.chat`, whose fields are arguments in the SDK."""

    messages: list[ChatMessageV2]
    model: NotRequired[str]
    stream: NotRequired[bool]
    tools: NotRequired[list[ToolV2]]
    strict_tools: NotRequired[bool]
    tool_choice: NotRequired[Literal["REQUIRED", "NONE"]]
    response_format: NotRequired[ResponseFormatV2]
    thinking: NotRequired[Thinking]
    max_tokens: NotRequired[int]
    temperature: NotRequired[float]
    p: NotRequired[float]
    k: NotRequired[int]
    seed: NotRequired[int]
    frequency_penalty: NotRequired[float]
    presence_penalty: NotRequired[float]
    stop_sequences: NotRequired[list[str]]
    logprobs: NotRequired[bool]


class Listing(TypedDict):
    """A request for the list of tools."""

    jsonrpc: Literal["2.0"]
    id: str | int
    method: Literal["tools/list"]


class Calling(TypedDict):
    """A request for a call."""

    jsonrpc: Literal["2.0"]
    id: str | int
    method: Literal["tools/call"]
    params: CallToolRequestParams


class Answering(TypedDict):
    """A response to either."""

    jsonrpc: Literal["2.0"]
    id: str | int
    result: CallToolResult | ListToolsResult


def _ollama() -> Callable[[Any], None]:
    say = closed(list[Message])
    declare = TypeAdapter(list[Tool]).validate_python  # the types know little of JSON Schema
    demand, set_options = closed(ChatRequest), closed(Options)

    def judge(value: Any) -> None:
        wrapped = [
            {**item, "images": [{"value": image} for image in item["images"]]} if "images" in item else item
            for item in value["messages"]
        ]  # as the client does it
        sent = [item.model_dump(exclude_none=True) for item in say(wrapped)]
        assert sent == value["messages"]
        declare(value.get("tools", []))
        further = {key: item for key, item in value.items() if key not in ("messages", "tools")}
        set_options(further.get("options", {}))
        demand({"model": "m", **further})

    return judge


def _request(type_: Any, beside: frozenset[str] = frozenset(), **needed: Any) -> Callable[[Any], object]:
    """Give what reads a request to which a caller still adds what is `needed`; keys `beside` are no SDK's."""
    read = closed(type_)
    return lambda value: read({**needed, **_without(value, beside)})


def _responses() -> Callable[[Any], object]:
    read = closed(ResponseCreateParamsNonStreaming)

    def judge(value: Any) -> object:
        # Thoughts need no id; a made-up one is refused, because the ciphertext knows its own.
        items = [{"id": "rs_1", **item} if item.get("type") == "reasoning" else item for item in value["input"]]
        return read({**value, "input": items})

    return judge


def _without(value: Any, keys: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {key: _without(item, keys) for key, item in value.items() if key not in keys}
    return [_without(item, keys) for item in value] if isinstance(value, list) else value


def _mistral() -> Callable[[Any], object]:
    read = _request(ChatCompletionRequestTypedDict, model="m")

    def judge(value: Any) -> object:
        value = json.loads(json.dumps(value))
        described = value.get("response_format", {}).get("json_schema")
        if described is not None:
            described["schema_definition"] = described.pop("schema")  # the SDK's name of the wire's key
        return read(value)

    return judge


def _interactions() -> Callable[[Any], object]:
    """Judge by the SDK's models, which keep what they don't know beside their fields."""
    read = TypeAdapter(CreateModelInteraction)

    def judge(value: Any) -> object:
        made = read.validate_json(json.dumps({"model": "m", **value}))
        unknown = [*_unknown(made)]
        # A call's signature is sent back as it came, though the model of a call has no field for it.
        assert set(unknown) <= {"FunctionCallStep.signature"}, unknown
        return made

    return judge


def _unknown(value: object) -> Iterator[str]:
    """Name what models hold beside their fields; a mapping is free JSON, and so is a model without fields."""
    if isinstance(value, BaseModel) and type(value).model_fields:
        yield from (f"{type(value).__name__}.{key}" for key in value.model_extra or {})
        value = [item for _, item in value]  # by its own iterator: to get a deprecated field warns
    if isinstance(value, list):
        for item in value:
            yield from _unknown(item)


JUDGES: dict[str, Callable[[Any], object]] = {
    # Sampling is for models that the newest types leave out; the API takes it.
    "anthropic": _request(
        MessageCreateParamsNonStreaming, frozenset({"temperature", "top_k", "top_p"}), model="m", max_tokens=1024
    ),
    "bedrock": converse,
    "cohere": _request(Cohere),
    "gemini": _request(Gemini),
    "gemini-interactions": _interactions(),
    "mcp": closed(list[Listing | Calling | Answering]),
    "mistral": _mistral(),
    "ollama": _ollama(),
    "openai-chat": _request(
        CompletionCreateParamsNonStreaming,
        frozenset({"annotations"}),  # part of an answer, which is sent back as it came
        model="m",
    ),
    "openai-responses": _responses(),
}
