"""The data of an answer beside its text and calls: id, model, finish reason, usage.

    AnswerInfo(id="msg_1", model="claude-sonnet-4-5", stop="tool_calls", usage=Usage(input=12, output=9))

One word for each finish reason of any provider: `STOPS` reads
them all, and each API's module has its own words for writing.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, get_args

from toolfmt.events import CallFailed
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue

Stop: TypeAlias = Literal["stop", "tool_calls", "stop_sequence", "length", "malformed_call", "content_filter", "pause"]
"""Why an answer ended: `length` is any premature end, `malformed_call` an unusable call."""

STOPS: Final[dict[JsonValue, Stop]] = {
    # OpenAI
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "max_output_tokens": "length",
    "content_filter": "content_filter",
    # Anthropic and Bedrock
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "stop_sequence": "stop_sequence",
    "pause_turn": "pause",
    "refusal": "content_filter",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
    # DeepSeek, GLM and vLLM
    "insufficient_system_resource": "length",
    "network_error": "length",
    "abort": "length",
    "sensitive": "content_filter",
    # Mistral
    "model_length": "length",
    "error": "length",
    # Bedrock
    "malformed_model_output": "length",
    "malformed_tool_use": "malformed_call",
    # Gemini Interactions
    "requires_action": "tool_calls",
    "incomplete": "length",
    "budget_exceeded": "length",
    # Gemini
    "MAX_TOKENS": "length",
    "MALFORMED_FUNCTION_CALL": "malformed_call",
    "MALFORMED_RESPONSE": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "LANGUAGE": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
    "MODEL_ARMOR": "content_filter",
    # Cohere; its word for `length` is Gemini's
    "TOOL_CALL": "tool_calls",
    "STOP_SEQUENCE": "stop_sequence",
    "ERROR": "length",
    "TIMEOUT": "length",
}
"""Every provider's words for reasons other than `stop`."""
UNFINISHED: Final[frozenset[Stop | None]] = frozenset({None, "length", "malformed_call"})
"""The reasons after which an open call does not count."""
ORDINARY: Final[frozenset[Stop | None]] = frozenset({None, "stop", "tool_calls", "stop_sequence"})
"""The reasons of an answer that is complete, or None if none is given."""


_CUT: Final = frozenset({*(word for word, stop in STOPS.items() if stop not in ORDINARY), *get_args(Stop)}) - ORDINARY
_ENDING_KEYS: Final = frozenset({"finishreason", "stopreason", "donereason"})


def plain_key(key: str) -> str:
    """Return a key without the differences of spelling: `stopReason`, `stop_reason`."""
    return key.replace("_", "").lower()


def ended_word(value: JsonValue, key: str = "") -> str:
    """Return the word for why an answer is cut off or blocked in a value, or in one under a `key`; "" if none is."""
    if is_object(value):
        return next(filter(None, (ended_word(item, name) for name, item in value.items())), "")
    if is_array(value):
        return next(filter(None, (ended_word(item) for item in value)), "")
    said = isinstance(value, str) and value in _CUT and plain_key(key.rpartition(".")[2]) in _ENDING_KEYS
    return value if said else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts: `input` and `output` are totals that include the others."""

    input: int = 0
    output: int = 0
    cached: int = 0
    """Input tokens read from a cache."""
    cache_written: int = 0
    """Input tokens written to a cache."""
    reasoning: int = 0
    """Output tokens spent on reasoning."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A proof of reasoning or of a call that its `owner` requires back: a signature, or encrypted text.

    `at` is the position, as in events, where the reasoning ends or the call begins.
    """

    at: int
    owner: str
    signature: str | None = None
    encrypted: str | None = None


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation of a text.

    `before` is the number of characters of text, without reasoning, before the piece of text from which the citation's
    places count.
    """

    citation: JsonObject
    before: int = 0


Trouble: TypeAlias = Literal[
    "invalid",
    "authentication",
    "billing",
    "permission",
    "not_found",
    "conflict",
    "too_large",
    "rate_limit",
    "overloaded",
    "timeout",
    "server",
]
"""The kind of an error, for all providers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A provider's error in place of an answer, or of its rest."""

    kind: Trouble
    message: str
    code: str | None = None
    """The provider's own error code."""
    param: str | None = None
    """The request's field that caused it."""
    status: int = 500
    """The HTTP status."""


@dataclass(slots=True)
class AnswerInfo:
    """What is known of an answer so far; `stop` is None until the answer is complete."""

    id: str = ""
    model: str = ""
    created: int = 0
    """Seconds since 1970; 0: unknown."""
    stop: Stop | None = None
    stop_sequence: str | None = None
    """The stop sequence that ended the answer, if `stop` is `stop_sequence`."""
    usage: Usage | None = None
    error: str | None = None
    """The provider's error message, if an error replaced the rest of the answer."""
    failure: Failure | None = None
    """The same error, with its kind."""
    proofs: list[Proof] = field(default_factory=list[Proof])
    """The proofs, in the order of their places."""
    citations: list[Cited] = field(default_factory=list[Cited])
    """The citations in order of arrival, each with a notice `citations` among the events."""
    refusals: set[int] = field(default_factory=set[int])
    """The positions, as in events, of pieces of text in which the model refuses."""
    signed: dict[int, Proof] = field(default_factory=dict[int, Proof])
    """The proofs of calls, by the calls' indices."""
    logprobs: list[JsonObject] = field(default_factory=list["JsonObject"])
    """The probabilities of the text's tokens, as OpenAI and Ollama write them: `{"token": "Hi", "logprob": -0.1}`."""
    custom: set[int] = field(default_factory=set[int])
    """The indices of calls with free text."""
    dropped: dict[tuple[str, str], None] = field(default_factory=dict[tuple[str, str], None])
    """Content of the answer that no event reports: media, further choices, provider-run tools.

    Each is listed once, by the code of its loss and its description.
    """


def stopped(info: AnswerInfo, *, cut: Stop | None, calls: bool) -> Stop:
    """Return the finish reason: that of a broken call (`cut`), or `tool_calls` if the answer has calls and stopped."""
    stop = info.stop
    if stop == "content_filter":
        return stop
    if cut is not None or stop is None:
        return cut or "length"
    return ("tool_calls" if calls else "stop") if stop in ("stop", "tool_calls") else stop


def ended_by(failed: CallFailed, begun: Container[int]) -> Stop | None:
    """Return how a failed call ends its answer; None if the call has no name, so that it is only text."""
    if failed.reason == "truncated":
        return "length"
    return "malformed_call" if failed.index in begun else None


def unusable(failed: CallFailed) -> str:
    """Describe an unusable call."""
    return f"{failed.name or 'a call'}: {failed.detail or failed.reason}"
