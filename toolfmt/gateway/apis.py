"""The APIs of backs and clients as data: the paths of requests, the headers of keys, how answers are streamed.

POST /v1/chat/completions                    openai-chat
POST /v1/responses                           openai-responses; /input_tokens counts, /compact shortens
POST /v1/messages                            anthropic; /count_tokens counts
POST /v1beta/models/MODEL:generateContent    gemini; :countTokens counts
POST /v1beta/interactions                    gemini-interactions
POST /api/chat                               ollama
POST /mistral/v1/chat/completions            mistral, whose own path is OpenAI's

Paths and keys beside those of the requests themselves are of the SDKs: openai 3.54 (responses.input_tokens,
responses.compact), anthropic 2.12 (messages.count_tokens), google-genai 3.4 (models.count_tokens),
and botocore 1.44.5 (bedrock-runtime).

A relative of OpenAI's Chat Completions (`vllm`, `groq`, ...) is asked at the same paths, for what it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol, TypeAlias

from toolfmt.gateway.amazon import EventStream
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.apis.relatives import NAMES
from toolfmt.transcripts.sse import EventText


class Frames(Protocol):
    """Reads the data of events from the bytes of a stream."""

    def feed(self, text: bytes, /) -> list[str]:
        """Return the JSON text of each complete event."""
        ...

    def close(self) -> list[str]:
        """Return the events that the end of the stream completes."""
        ...


def _google(key: str) -> Mapping[str, str]:
    return {"x-goog-api-key": key}


@dataclass(frozen=True, slots=True, kw_only=True)
class CountApi:
    """How an API counts the tokens of a request."""

    path: str
    keys: frozenset[str]
    """What it takes of a request."""
    place: str
    """The key of its answer that holds the number."""
    wrapped: Callable[[JsonObject, str], JsonObject] = lambda request, _: request
    """Makes its body of a request and the model's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackApi:
    """One API as the server uses it with a back."""

    format: str
    """Whose requests and answers these are."""
    whole: str
    """Where a whole answer is asked for; a part `{model}` is the model's name."""
    stream: str
    """Where a stream is asked for."""
    key: Callable[[str], Mapping[str, str]] = lambda key: {"authorization": f"Bearer {key}"}
    """The headers that hold a key."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Headers of each request."""
    models: str = "/models"
    """Where it lists its models; empty: nowhere."""
    beside: frozenset[str] = frozenset()
    """Fields of a request that its path says."""
    count: CountApi | None = None
    compact: str = ""
    """Where it shortens a conversation; empty: nowhere."""
    spelled: Mapping[str, str] = field(default_factory=dict[str, str])
    """Keys of a request that have another name here."""
    read: Callable[[JsonObject, str], JsonObject] | None = None
    """Makes an answer of `format`, or an event of its stream, of what the API answers; the second argument is the key
    of what a choice contains: `message` or `delta`."""
    prompted: bool = False
    """Whether a prompt is sent, which the model's chat template renders, instead of messages."""
    text: bool = False
    """Whether the model only writes text: its tools are shown in the prompt, its calls are read in the answer."""
    frames: Callable[[int], Frames] = EventText
    """What reads a stream; the argument is the most characters that an event may have."""


def _of_completion(value: JsonObject, place: str) -> JsonObject:
    """Make a Chat Completions answer of a completion, or of an event of its stream."""
    choices = value.get("choices")
    return {**value, "choices": [_choice(one, place) for one in choices]} if is_array(choices) else value


def _choice(choice: JsonValue, place: str) -> JsonValue:
    if not is_object(choice) or "text" not in choice:
        return choice
    rest = {key: value for key, value in choice.items() if key not in {"text", "logprobs"}}
    return {**rest, place: {"role": "assistant", "content": choice["text"]}}


def _of_llama(value: JsonObject, place: str) -> JsonObject:
    """Make a Chat Completions answer of what llama.cpp's `/completion` answers; its README says the fields."""
    if "content" not in value:
        return value
    ended = value.get("stop") is True
    reason = ("length" if value.get("stop_type") == "limit" else "stop") if ended else None
    made: JsonObject = {"choices": [{"index": 0, "text": value["content"], "finish_reason": reason}]}
    if ended:
        prompt, predicted = value.get("tokens_evaluated") or 0, value.get("tokens_predicted") or 0
        made["usage"] = {"prompt_tokens": prompt, "completion_tokens": predicted, "total_tokens": prompt + predicted}
    return _of_completion(made, place)


NAMED: Final[Mapping[str, str]] = {
    "openai-responses": "previous_response_id",
    "gemini-interactions": "previous_interaction_id",
}
"""The field in which a request names an earlier answer."""
_CHAT: Final = BackApi(format="openai-chat", whole="/chat/completions", stream="/chat/completions")
APIS: Final[Mapping[str, BackApi]] = {
    "openai-chat": _CHAT,
    "openai-responses": BackApi(
        format="openai-responses",
        whole="/responses",
        stream="/responses",
        count=CountApi(
            path="/responses/input_tokens",
            keys=frozenset({"model", "input", "instructions", "previous_response_id", "conversation", "tools"})
            | {"tool_choice", "parallel_tool_calls", "reasoning", "text", "truncation"},
            place="input_tokens",
        ),
        compact="/responses/compact",
    ),
    "anthropic": BackApi(
        format="anthropic",
        whole="/messages",
        stream="/messages",
        key=lambda key: {"x-api-key": key},
        headers={"anthropic-version": "2023-06-01"},
        count=CountApi(
            path="/messages/count_tokens",
            keys=frozenset({"model", "messages", "system", "tools", "tool_choice", "thinking"})
            | {"cache_control", "output_config"},
            place="input_tokens",
        ),
    ),
    "gemini": BackApi(
        format="gemini",
        whole="/models/{model}:generateContent",
        stream="/models/{model}:streamGenerateContent?alt=sse",
        key=_google,
        count=CountApi(
            path="/models/{model}:countTokens",
            keys=frozenset({"contents", "systemInstruction", "tools", "toolConfig", "generationConfig"}),
            place="totalTokens",
            wrapped=lambda request, model: {"generateContentRequest": {"model": f"models/{model}", **request}},
        ),
    ),
    "gemini-interactions": BackApi(
        format="gemini-interactions", whole="/interactions", stream="/interactions", key=_google
    ),
    "bedrock": BackApi(
        format="bedrock",
        whole="/model/{model}/converse",
        stream="/model/{model}/converse-stream",
        models="",
        count=CountApi(
            path="/model/{model}/count-tokens",
            keys=frozenset({"messages", "system", "toolConfig"}),
            place="inputTokens",
            wrapped=lambda request, _: {"input": {"converse": request}},
        ),
        beside=frozenset({"modelId"}),
        frames=EventStream,
    ),
    "mistral": replace(_CHAT, format="mistral"),
    "cohere": BackApi(format="cohere", whole="/chat", stream="/chat"),
    "ollama": BackApi(format="ollama", whole="/api/chat", stream="/api/chat", models="/api/tags"),
    "text": replace(_CHAT, format="vllm", text=True),  # `max_tokens`, as every copy of the API takes it
    "completions": BackApi(
        format="vllm", whole="/completions", stream="/completions", read=_of_completion, prompted=True, text=True
    ),
    "llama.cpp": BackApi(
        format="vllm",
        whole="/completion",
        stream="/completion",
        spelled={"max_tokens": "n_predict", "repetition_penalty": "repeat_penalty"},
        read=_of_llama,
        prompted=True,
        text=True,
    ),
    **{name: replace(_CHAT, format=name) for name in sorted(NAMES)},
}
"""The APIs of backs, by their names in a configuration."""


Task: TypeAlias = Literal["answer", "count", "compact"]
"""What a path is for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """One path of an API as clients see it."""

    format: str
    path: str
    """As Starlette writes it; a part `{model}` is the model's name."""
    task: Task = "answer"
    streams: bool | None = None
    """Whether the path itself says that the answer is streamed; None leaves it to the field `stream`."""
    streamed_by_default: bool = False
    """What the field `stream` means where a request leaves it out."""
    media: str = "text/event-stream"
    ident: str = "x-request-id"
    """The header in which clients look for the id of their request."""
    listed: bool = False
    """Whether a stream is one JSON list unless the query says `alt=sse`."""


_VERBS: Final[tuple[tuple[str, Task, bool], ...]] = (
    ("generateContent", "answer", False),
    ("streamGenerateContent", "answer", True),
    ("countTokens", "count", False),
)
_GEMINI: Final = tuple(
    Face(format="gemini", path=f"/{version}/models/{{model:path}}:{verb}", task=task, streams=streams, listed=True)
    for version in ("v1beta", "v1")
    for verb, task, streams in _VERBS
)
FACES: Final = (
    Face(format="openai-chat", path="/v1/chat/completions"),
    Face(format="openai-responses", path="/v1/responses"),
    Face(format="openai-responses", path="/v1/responses/input_tokens", task="count", streams=False),
    Face(format="openai-responses", path="/v1/responses/compact", task="compact", streams=False),
    Face(format="anthropic", path="/v1/messages", ident="request-id"),
    Face(format="anthropic", path="/v1/messages/count_tokens", task="count", streams=False, ident="request-id"),
    *_GEMINI,
    Face(format="gemini-interactions", path="/v1beta/interactions"),
    Face(format="gemini-interactions", path="/v1/interactions"),
    Face(format="ollama", path="/api/chat", streamed_by_default=True, media="application/x-ndjson"),
    Face(format="mistral", path="/mistral/v1/chat/completions"),
)
_ROOTS: Final[Mapping[str, str]] = {
    "/v1beta/interactions": "gemini-interactions",
    "/v1beta/": "gemini",
    "/api/": "ollama",
    "/mistral/": "mistral",
}
"""The formats of clients by the beginning of a path; others send one of these headers, or ask near one of the paths:"""
_MARKS: Final = {"x-goog-api-key": "gemini", **dict.fromkeys(("anthropic-version", "x-api-key"), "anthropic")}
_PATHS: Final[Mapping[str, str]] = {face.path: face.format for face in FACES if "{" not in face.path}


def asked_format(path: str, headers: Container[str]) -> str:
    """Return the format of the client that requests a path, for errors that it can read."""
    rooted = next((found for root, found in _ROOTS.items() if path.startswith(root)), None)
    marked = next((found for name, found in _MARKS.items() if name in headers), None)
    near = (found for known, found in _PATHS.items() if path.startswith(known) or known.startswith(path))
    return _PATHS.get(path) or rooted or marked or next(near, FACES[0].format)
