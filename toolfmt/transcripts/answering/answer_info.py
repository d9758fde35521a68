"""What an answer says beside its words and calls: who gave it, why it ended, what it cost.

    AnswerInfo(id="msg_1", model="claude-sonnet-4-5", stop="tool_calls", usage=Usage(input=12, output=9))

One word for each reason to end, whatever a provider calls it: `STOPS` reads
them all, and each API's module has its own words for the way back.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from toolfmt.events import CallFailed
from toolfmt.model import JsonObject, JsonValue

Stop: TypeAlias = Literal["stop", "tool_calls", "stop_sequence", "length", "malformed_call", "content_filter", "pause"]
"""Why an answer ended: `length` is any end before the model was done, `malformed_call` a call that cannot be used."""

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
"""Every provider's word for a reason that is not simply `stop`."""
UNFINISHED: Final[frozenset[Stop | None]] = frozenset({None, "length", "malformed_call"})
"""The ends after which a call that is still open is not one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens: `input` and `output` are all of them, the others are among these."""

    input: int = 0
    output: int = 0
    cached: int = 0
    """Of the input, read from a cache."""
    cache_written: int = 0
    """Of the input, written to a cache."""
    reasoning: int = 0
    """Of the output, spent on reasoning."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What proves reasoning or a call to its `owner`, who wants it back: a signature, or text that only they can read.

    `at` is where the reasoning ends or the call begins, counted as the events' positions are.
    """

    at: int
    owner: str
    signature: str | None = None
    encrypted: str | None = None


@dataclass(frozen=True, slots=True)
class Cited:
    """A source that a text names.

    `before` counts the characters of text, reasoning aside, before the piece of text that the places in the citation
    count from.
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
"""What went wrong, whatever a provider calls it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An error that a provider gave in place of an answer, or of the rest of one."""

    kind: Trouble
    message: str
    code: str | None = None
    """The provider's own word for it, beside the kind."""
    param: str | None = None
    """The field of the request that it is about."""
    status: int = 500
    """The HTTP status that goes with it."""


@dataclass(slots=True)
class AnswerInfo:
    """What is known of an answer so far; `stop` is None until the answer says that it is complete."""

    id: str = ""
    model: str = ""
    created: int = 0
    """Seconds since 1970; 0: not known."""
    stop: Stop | None = None
    stop_sequence: str | None = None
    """The text that ended the answer, where `stop` says that one did."""
    usage: Usage | None = None
    error: str | None = None
    """The provider's words, where it gave an error instead of the rest of the answer."""
    failure: Failure | None = None
    """The same error, with its kind."""
    proofs: list[Proof] = field(default_factory=list[Proof])
    """In the order of their places."""
    citations: list[Cited] = field(default_factory=list[Cited])
    """In the order in which they came, each with a notice `citations` among the events."""
    refusals: set[int] = field(default_factory=set[int])
    """Where the pieces of text begin in which the model refuses, counted as the events' positions are."""
    signed: dict[int, Proof] = field(default_factory=dict[int, Proof])
    """What proves calls to their makers, by their indices."""
    logprobs: list[JsonObject] = field(default_factory=list["JsonObject"])
    """The probabilities of the text's tokens, as OpenAI and Ollama write them: `{"token": "Hi", "logprob": -0.1}`."""
    custom: set[int] = field(default_factory=set[int])
    """The indices of calls that carry free text."""
    dropped: dict[tuple[str, str], None] = field(default_factory=dict[tuple[str, str], None])
    """What the answer holds and no event reports: media, further choices, what the provider ran.

    Each by the code of its loss and what it is, once.
    """


def stopped(info: AnswerInfo, *, cut: Stop | None, calls: bool) -> Stop:
    """Explain why the answer ended: as a broken call says (`cut`), or with calls if it has some and simply stopped."""
    stop = info.stop
    if stop == "content_filter":
        return stop
    if cut is not None or stop is None:
        return cut or "length"
    return ("tool_calls" if calls else "stop") if stop in ("stop", "tool_calls") else stop


def ended_by(failed: CallFailed, begun: Container[int]) -> Stop | None:
    """Say how a failed call ends its answer; None if the answer only has it as text: it was never named."""
    if failed.reason == "truncated":
        return "length"
    return "malformed_call" if failed.index in begun else None


def unusable(failed: CallFailed) -> str:
    """Name a call that cannot be run, and say why."""
    return f"{failed.name or 'a call'}: {failed.detail or failed.reason}"
