"""Why answers end: one word for every provider's reasons, and where a value says it.

STOPS["max_tokens"]                            "length"
ended_word({"stop_reason": "refusal"})         "refusal"
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonValue

Stop: TypeAlias = Literal[
    "stop", "tool_calls", "stop_sequence", "length", "malformed_call", "content_filter", "pause", "unstated"
]
"""Why an answer ended: `length` is any premature end, `malformed_call` an unusable call.

`unstated`: the stream reached its end, but gave no reason.
"""

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
    # ours
    "malformed_call": "malformed_call",
    "pause": "pause",
    "unstated": "unstated",
}
"""Every provider's words for reasons other than `stop`, and our own."""
UNFINISHED: Final[frozenset[Stop | None]] = frozenset({None, "length", "malformed_call", "unstated"})
"""The reasons after which an open call does not count."""
ORDINARY: Final[frozenset[Stop | None]] = frozenset({None, "stop", "tool_calls", "stop_sequence"})
"""The reasons of an answer that is complete, or None if none is given."""


_CUT: Final = frozenset(word for word, stop in STOPS.items() if stop not in ORDINARY)
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
