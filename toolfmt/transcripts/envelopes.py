"""What is around the message of a whole answer, for each API: where its messages are, and what is said beside them.

open:   {"id": "msg_1", "content": [...], "stop_reason": "end_turn"}  ->  {"messages": [{"role": "assistant", ...}]}
close:  the messages as the API writes them, and an AnswerInfo         ->  the answer
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from toolfmt.jsontext import is_array
from toolfmt.transcripts import answer_usage as usage
from toolfmt.transcripts.answer_info import WRITTEN, AnswerInfo, Stop
from toolfmt.transcripts.answer_readers.steps import inner, objects
from toolfmt.transcripts.gemini_parts import camel

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.transcripts.streams.sink import AnswerHead


@dataclass(frozen=True, slots=True)
class AnswerEnding:
    """How an answer that is written ends."""

    stop: Stop
    info: AnswerInfo
    head: AnswerHead


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """How one API writes a whole answer."""

    open: Callable[[JsonObject], list[JsonValue]]
    """Give the conversation that each choice is, as the API's format writes conversations."""
    close: Callable[[list[list[JsonObject]], AnswerEnding], JsonObject]
    """Make the answer of each choice's messages."""
    known: frozenset[str]
    """The keys that are read."""
    several: bool = False
    """An answer may have several choices."""
    proves: str = ""
    """Whose reasoning the answer holds; that of others is written as its, without a proof. Empty: anybody's."""
    unsigned: str | None = None
    """What is the proof of reasoning that has none."""


def _usage(
    write: Callable[[usage.Usage], JsonObject], ending: AnswerEnding, *, always: bool = False
) -> JsonObject | None:
    found = ending.info.usage
    return write(found or usage.Usage()) if found is not None or always else None


def _only(messages: list[JsonObject]) -> JsonObject:
    return messages[0] if messages else {}


def _open_chat(value: JsonObject) -> list[JsonValue]:
    return [{"messages": [{"role": "assistant", **inner(choice, "message")}]} for choice in objects(value, "choices")]


def _choices(name: str) -> Callable[[list[list[JsonObject]], AnswerEnding], list[JsonObject]]:
    stops = WRITTEN[name]

    def write(choices: list[list[JsonObject]], ending: AnswerEnding) -> list[JsonObject]:
        return [
            {
                "index": at,
                "message": {"role": "assistant", "content": None, **_only(messages)},
                "finish_reason": stops[ending.stop],
            }
            for at, messages in enumerate(choices)
        ]

    return write


def _close_chat(choices: list[list[JsonObject]], ending: AnswerEnding) -> JsonObject:
    made = _choices("openai-chat")(choices, ending)
    for choice in made:
        message = choice["message"]
        message.setdefault("refusal", None)
        parts = message["content"]
        if is_array(parts):  # an answer's content is text, whatever a request's may be
            message["content"] = "".join(part["text"] for part in parts if isinstance(part.get("text"), str)) or None
        choice["logprobs"] = None
    head = ending.head
    said: JsonObject = {"id": head.id, "object": "chat.completion", "created": head.created, "model": head.model}
    counted = _usage(usage.write_chat, ending)
    return {**said, "choices": made} | ({} if counted is None else {"usage": counted})


def _close_mistral(choices: list[list[JsonObject]], ending: AnswerEnding) -> JsonObject:
    head = ending.head
    said: JsonObject = {"id": head.id, "object": "chat.completion", "created": head.created, "model": head.model}
    counted = _usage(usage.write_mistral, ending, always=True)
    return {**said, "choices": _choices("mistral")(choices, ending), "usage": counted}


def _open_anthropic(value: JsonObject) -> list[JsonValue]:
    return [{"messages": [{"role": "assistant", "content": value.get("content") or []}]}]


def _close_anthropic(choices: list[list[JsonObject]], ending: AnswerEnding) -> JsonObject:
    content: JsonValue = _only(choices[0]).get("content") or []
    return {
        "id": ending.head.id,
        "type": "message",
        "role": "assistant",
        "model": ending.head.model,
        "content": [_answered(block) for block in content]
        if is_array(content)
        else [{"type": "text", "text": content, "citations": None}],
        "stop_reason": WRITTEN["anthropic"][ending.stop],
        "stop_sequence": ending.info.stop_sequence if ending.stop == "stop_sequence" else None,
        "usage": _usage(usage.write_anthropic, ending, always=True),
    }


def _answered(block: JsonObject) -> JsonObject:
    """Add what a block of an answer has and one of a request may leave out."""
    return {"citations": None, **block} if block.get("type") == "text" else block


def _open_responses(value: JsonObject) -> list[JsonValue]:
    return [{"input": objects(value, "output")}]


_INCOMPLETE: Final[Mapping[Stop, str]] = {"length": "max_output_tokens", "content_filter": "content_filter"}


def _close_responses(choices: list[list[JsonObject]], ending: AnswerEnding) -> JsonObject:
    reason = _INCOMPLETE.get(ending.stop)
    return response(
        ending.head,
        [_item(item, at, ending.head) for at, item in enumerate(choices[0])],
        "completed" if reason is None else "incomplete",
        reason,
        _usage(usage.write_responses, ending),
    )


def response(
    head: AnswerHead, output: list[JsonObject], status: str, reason: str | None, counted: JsonObject | None
) -> JsonObject:
    """Make a response around its items."""
    return {
        "id": head.id,
        "object": "response",
        "created_at": head.created,
        "status": status,
        "error": None,
        "incomplete_details": None if reason is None else {"reason": reason},
        "instructions": None,
        "metadata": {},
        "model": head.model,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": counted,
    }


_PREFIXES: Final = {"message": "msg_", "reasoning": "rs_", "function_call": "fc_", "custom_tool_call": "ctc_"}


def _item(item: JsonObject, at: int, head: AnswerHead) -> JsonObject:
    """Make an item of an answer of one of a request: it has an id, its texts have annotations."""
    kind = item.get("type", "message")
    prefix = _PREFIXES.get(kind)
    if prefix is None:
        return item
    made: JsonObject = {"id": head.mint(prefix, at), "type": kind, **item}
    if kind == "message":
        content = made.get("content")
        parts = content if is_array(content) else [{"type": "output_text", "text": content or ""}]
        made["content"] = [
            {"annotations": [], "logprobs": [], **part} if part.get("type") == "output_text" else part for part in parts
        ]
    return made if kind == "reasoning" else {"status": "completed", **made}


def _open_gemini(value: JsonObject) -> list[JsonValue]:
    contents = [inner(camel(candidate), "content") for candidate in objects(camel(value), "candidates")]
    return [{"contents": [{"parts": [], **content, "role": "model"}]} for content in contents]


def _close_gemini(choices: list[list[JsonObject]], ending: AnswerEnding) -> JsonObject:
    made: JsonObject = {
        "candidates": [
            {
                "content": {"role": "model", "parts": [], **_only(messages)},
                "finishReason": WRITTEN["gemini"][ending.stop],
                "index": at,
            }
            for at, messages in enumerate(choices)
        ]
    }
    counted = _usage(usage.write_gemini, ending)
    if counted is not None:
        made["usageMetadata"] = counted
    told = {"modelVersion": ending.head.model, "responseId": ending.head.id}
    return made | {key: found for key, found in told.items() if found}


def _open_bedrock(value: JsonObject) -> list[JsonValue]:
    return [{"messages": [{"role": "assistant", "content": [], **inner(inner(value, "output"), "message")}]}]


def _close_bedrock(choices: list[list[JsonObject]], ending: AnswerEnding) -> JsonObject:
    return {
        "output": {"message": {"role": "assistant", "content": [], **_only(choices[0])}},
        "stopReason": WRITTEN["bedrock"][ending.stop],
        "usage": _usage(usage.write_bedrock, ending, always=True),
        "metrics": {"latencyMs": 0},
    }


def _open_cohere(value: JsonObject) -> list[JsonValue]:
    return [{"messages": [{"role": "assistant", **inner(value, "message")}]}]


def _close_cohere(choices: list[list[JsonObject]], ending: AnswerEnding) -> JsonObject:
    message: JsonObject = {"role": "assistant", **_only(choices[0])}
    content = message.get("content")
    if isinstance(content, str):
        message["content"] = [{"type": "text", "text": content}]
    made: JsonObject = {
        "id": ending.head.id,
        "finish_reason": WRITTEN["cohere"][ending.stop],
        "message": message,
    }
    counted = _usage(usage.write_cohere, ending)
    return made if counted is None else {**made, "usage": counted}


def _close_ollama(choices: list[list[JsonObject]], ending: AnswerEnding) -> JsonObject:
    return {
        "model": ending.head.model,
        "created_at": timestamp(ending.head.created),
        "message": {"role": "assistant", "content": "", **_only(choices[0])},
        "done": True,
        "done_reason": WRITTEN["ollama"][ending.stop],
        **(_usage(usage.write_ollama, ending) or {}),
    }


def _open_interactions(value: JsonObject) -> list[JsonValue]:
    return [{"input": objects(value, "steps")}]


def _close_interactions(choices: list[list[JsonObject]], ending: AnswerEnding) -> JsonObject:
    made: JsonObject = {
        "id": ending.head.id,
        "object": "interaction",
        "model": ending.head.model,
        "created": timestamp(ending.head.created),
        "status": WRITTEN["gemini-interactions"][ending.stop],
        "steps": choices[0],
    }
    counted = _usage(usage.write_interactions, ending)
    return made if counted is None else {**made, "usage": counted}


def timestamp(seconds: int) -> str:
    """Write seconds since 1970 as RFC 3339 has them."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


_CHAT: Final = frozenset({"id", "object", "created", "model", "choices", "usage"})

ENVELOPES: Final[Mapping[str, Envelope]] = {
    "anthropic": Envelope(
        open=_open_anthropic,
        close=_close_anthropic,
        known=frozenset({"id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage"}),
        proves="anthropic",
        unsigned="",
    ),
    "bedrock": Envelope(
        open=_open_bedrock,
        close=_close_bedrock,
        known=frozenset({"output", "stopReason", "usage", "metrics", "ResponseMetadata"}),
        proves="anthropic",
    ),
    "cohere": Envelope(
        open=_open_cohere, close=_close_cohere, known=frozenset({"id", "finish_reason", "message", "usage"})
    ),
    "gemini": Envelope(
        open=_open_gemini,
        close=_close_gemini,
        known=frozenset({"candidates", "usageMetadata", "modelVersion", "responseId", "promptFeedback"}),
        several=True,
    ),
    "gemini-interactions": Envelope(
        open=_open_interactions,
        close=_close_interactions,
        known=frozenset({"id", "object", "model", "created", "updated", "status", "steps", "usage"}),
    ),
    "mistral": Envelope(open=_open_chat, close=_close_mistral, known=_CHAT, several=True),
    "ollama": Envelope(
        open=_open_cohere,
        close=_close_ollama,
        known=frozenset(
            {"model", "created_at", "message", "done", "done_reason", "prompt_eval_count", "eval_count"}
            | {"total_duration", "load_duration", "prompt_eval_duration", "eval_duration"}
        ),
    ),
    "openai-chat": Envelope(open=_open_chat, close=_close_chat, known=_CHAT, several=True),
    "openai-responses": Envelope(
        open=_open_responses,
        close=_close_responses,
        known=frozenset(
            {"id", "object", "created_at", "completed_at", "model", "status", "output", "usage", "error"}
            | {"incomplete_details"}
        ),
        proves="openai",
    ),
}
"""Each API's, by the name of its format."""
