"""How each SDK is asked, as data: which of its methods, with which arguments, whole and streamed.

    client.chat.completions.create(model="gpt-5.1", messages=[...], stream=True, extra_body={"top_k": 4})

A request goes out as it is: what a method has no argument for goes into the `extra_body`
of those that have one, and is refused by the others.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from toolfmt.model import JsonObject

Arguments: TypeAlias = Callable[["JsonObject", frozenset[str]], dict[str, Any]]
"""Makes a method's arguments of a request; gets the names of those that the method takes."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One way of asking: the path of a client's method, what a request says of it, and what it usually says."""

    path: str
    says: Mapping[str, Any] = field(default_factory=dict[str, Any])
    usually: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkApi:
    """One API of an SDK; `format` is the transcript format of its requests."""

    format: str
    whole: Ask
    streamed: Ask
    arguments: Arguments


def _named(request: JsonObject, taken: frozenset[str]) -> dict[str, Any]:
    """Give a field to the argument of its name."""
    if "extra_body" not in taken:
        return request
    known = {key: value for key, value in request.items() if key in taken}
    further = {key: value for key, value in request.items() if key not in taken}
    return {**known, "extra_body": {**further, **known.get("extra_body", {})}} if further else known


def _google(request: JsonObject, _: frozenset[str]) -> dict[str, Any]:
    """Send the request as the body that it is: the SDK's own types refuse or rewrite some of what the API takes."""
    body = {key: value for key, value in request.items() if key != "model"}
    config = {"http_options": {"extra_body": body}, "automatic_function_calling": {"disable": True}}
    # The method wants contents; those of the body take their place.
    return {"model": request.get("model"), "contents": "-", "config": config}


def _ollama(request: JsonObject, _: frozenset[str]) -> dict[str, Any]:
    """Post the request itself: `chat` would leave out what its types do not know of a tool's schema, `anyOf` say."""
    return {"cls": dict, "method": "POST", "url": "/api/chat", "json": request, "stream": request["stream"]}


OPENAI_CHAT: Final = SdkApi(
    format="openai-chat",
    whole=Ask("chat.completions.create"),
    streamed=Ask("chat.completions.create", {"stream": True}, {"stream_options": {"include_usage": True}}),
    arguments=_named,
)
OPENAI_RESPONSES: Final = SdkApi(
    format="openai-responses",
    whole=Ask("responses.create"),
    streamed=Ask("responses.create", {"stream": True}),
    arguments=_named,
)
ANTHROPIC: Final = SdkApi(
    format="anthropic",
    whole=Ask("messages.create"),
    streamed=Ask("messages.create", {"stream": True}),
    arguments=_named,
)
GOOGLE: Final = SdkApi(
    format="gemini",
    whole=Ask("models.generate_content"),
    streamed=Ask("models.generate_content_stream"),
    arguments=_google,
)
MISTRAL: Final = SdkApi(
    format="mistral",
    whole=Ask("chat.complete"),
    streamed=Ask("chat.stream"),
    arguments=_named,
)
OLLAMA: Final = SdkApi(
    format="ollama",
    whole=Ask("_request", {"stream": False}),
    streamed=Ask("_request", {"stream": True}),
    arguments=_ollama,
)


def method(client: object, path: str) -> Callable[..., Any]:
    """Find a client's method; raises AttributeError if it has none."""
    found: Any = client
    for name in path.split("."):
        found = getattr(found, name)
    return found


def taken(function: Callable[..., Any]) -> frozenset[str]:
    """Name the arguments that a function takes."""
    return frozenset(inspect.signature(function).parameters)
