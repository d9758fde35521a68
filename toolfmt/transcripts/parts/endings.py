"""Why answers end: one word for every provider's reasons, and where a value says it.

STOPS["max_tokens"]                            "length"
ended_word({"stop_reason": "refusal"})         "refusal"
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonValue

Stop: TypeAlias = Literal[
    "stop", "tool_calls", "stop_sequence", "length", "malformed_call", "content_filter", "pause", "unstated"
]
"""Why an answer ended: `length` is any premature end, `malformed_call` an unusable call.

`unstated`: the stream reached its end, but gave no reason.
"""

_WORDS: Final[Mapping[Stop, str]] = {
    "tool_calls": "tool_calls function_call tool_use requires_action TOOL_CALL",
    "stop_sequence": "stop_sequence STOP_SEQUENCE",
    "pause": "pause_turn pause",
    "malformed_call": "malformed_call malformed_tool_use MALFORMED_FUNCTION_CALL",
    "content_filter": "content_filter refusal content_filtered guardrail_intervened sensitive SAFETY RECITATION "
    "BLOCKLIST PROHIBITED_CONTENT SPII LANGUAGE IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION MODEL_ARMOR",
    "unstated": "unstated",
    "length": "length max_output_tokens max_tokens model_context_window_exceeded insufficient_system_resource "
    "network_error abort model_length error malformed_model_output incomplete budget_exceeded MAX_TOKENS "
    "MALFORMED_RESPONSE ERROR TIMEOUT",
}
STOPS: Final[dict[JsonValue, Stop]] = {word: stop for stop, words in _WORDS.items() for word in words.split()}
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
