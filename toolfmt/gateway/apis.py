"""The APIs that backs speak, as data: where each takes requests, how it is given a key, what a stream of it is.

Paths and keys beside those of the requests themselves are of the SDKs: openai 3.54 (responses.input_tokens,
responses.compact), anthropic 2.12 (messages.count_tokens), google-genai 3.4 (models.count_tokens),
and botocore 1.44.5 (bedrock-runtime).

A relative of OpenAI's Chat Completions (`vllm`, `groq`, ...) is asked at the same paths, for what it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Protocol

from toolfmt.gateway.amazon import EventStream
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.apis.relatives import NAMES
from toolfmt.transcripts.sse import EventText

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue


class Frames(Protocol):
    """Takes the data of events out of the bytes of a stream."""

    def feed(self, text: bytes, /) -> list[str]:
        """Give the JSON text of each event that is complete."""
        ...

    def close(self) -> list[str]:
        """Give what the end of the stream completes."""
        ...


def _bearer(key: str) -> Mapping[str, str]:
    return {"authorization": f"Bearer {key}"}


def _google(key: str) -> Mapping[str, str]:
    return {"x-goog-api-key": key}


def _anthropic(key: str) -> Mapping[str, str]:
    return {"x-api-key": key}


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
    """One API as the server speaks it to a back."""

    format: str
    """Whose requests and answers these are."""
    whole: str
    """Where a whole answer is asked for; a part `{model}` is the model's name."""
    stream: str
    """Where a stream is asked for."""
    key: Callable[[str], Mapping[str, str]] = _bearer
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
    read: Callable[[JsonObject], JsonObject] | None = None
    """Makes an answer of `format`, or an event of its stream, of what the API answers."""
    prompted: bool = False
    """Whether a prompt is sent, which the model's chat template renders, instead of messages."""
    text: bool = False
    """Whether the model only writes text: its tools are shown in the prompt, its calls are read in the answer."""
    frames: Callable[[int], Frames] = EventText
    """What reads a stream; the argument is the most characters that an event may have."""


def _of_completion(value: JsonObject) -> JsonObject:
    """Make a Chat Completions answer of a completion, or of an event of its stream."""
    choices = value.get("choices")
    return {**value, "choices": [_choice(one) for one in choices]} if is_array(choices) else value


def _choice(choice: JsonValue) -> JsonValue:
    if not is_object(choice) or "text" not in choice:
        return choice
    said: JsonObject = {"role": "assistant", "content": choice["text"]}
    rest = {key: value for key, value in choice.items() if key not in {"text", "logprobs"}}
    return {**rest, "message": said, "delta": said}


def _of_llama(value: JsonObject) -> JsonObject:
    """Make a Chat Completions answer of what llama.cpp's `/completion` answers; its README says the fields."""
    if "content" not in value:
        return value
    ended = value.get("stop") is True
    reason = ("length" if value.get("stop_type") == "limit" else "stop") if ended else None
    made: JsonObject = {"choices": [{"index": 0, "text": value["content"], "finish_reason": reason}]}
    if ended:
        prompt, said = value.get("tokens_evaluated") or 0, value.get("tokens_predicted") or 0
        made["usage"] = {"prompt_tokens": prompt, "completion_tokens": said, "total_tokens": prompt + said}
    return _of_completion(made)


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
        key=_anthropic,
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
"""What a back may speak, by the name that a configuration gives it."""
