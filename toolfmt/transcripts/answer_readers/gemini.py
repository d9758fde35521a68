"""Gemini's answers and chunks, which have the same shape; calls come whole, or value by value.

{"candidates": [{"content": {"parts": [{"text": "Hm.", "thought": true}, {"text": "Hi"}]}, "finishReason": "STOP"}],
    "usageMetadata": {"promptTokenCount": 12}, "modelVersion": "gemini-3-pro", "responseId": "r1"}
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from toolfmt.jsontext import is_object
from toolfmt.transcripts.answer_readers.partial import PartialArguments
from toolfmt.transcripts.answer_readers.steps import StepShape, ended, inner, objects, whole_call
from toolfmt.transcripts.answer_usage import read_gemini
from toolfmt.transcripts.gemini_parts import OWNER, PROVIDER, camel

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.transcripts.assembling import Assembler


_KEYS: Final = frozenset({"candidates", "promptFeedback", "prompt_feedback", "usageMetadata", "usage_metadata"})

_BROKEN: Final[Mapping[JsonValue, str]] = {
    "MALFORMED_FUNCTION_CALL": "malformed",
    "UNEXPECTED_TOOL_CALL": "unknown_tool",
}
"""The ends of answers that leave out a call, and what was wrong with it."""


def _read(value: JsonObject, made: Assembler) -> None:
    value = _spelt(value)
    if not made.info.id:
        made.about(value.get("responseId"), value.get("modelVersion"))
    blocked = _spelt(inner(value, "promptFeedback")).get("blockReason")
    if blocked:
        made.info.stop = "content_filter"
        made.note("blocked", str(blocked))
    for candidate in map(_spelt, objects(value, "candidates")):
        if candidate.get("index"):
            made.note("choice", str(candidate["index"]))
            continue  # another answer to the same question
        if candidate.get("groundingMetadata") or candidate.get("citationMetadata"):
            made.note("citations", "groundingMetadata")
        for part in map(_spelt, objects(inner(candidate, "content"), "parts")):
            _part(part, made)
        reason = candidate.get("finishReason")
        if reason in _BROKEN:
            said = str(candidate.get("finishMessage") or "")
            made.broken(said, _BROKEN[reason], f"{reason}: {said}" if said else str(reason))
        ended(made, reason)
    if value.get("usageMetadata"):
        made.tokens(_spelt(inner(value, "usageMetadata")), read_gemini)


def _part(part: JsonObject, made: Assembler) -> None:
    signature = part.get("thoughtSignature")
    if isinstance(signature, bytes):  # as the SDK has it
        signature = b64encode(signature).decode()
    if is_object(part.get("functionCall")):
        extra = {f"{OWNER}.thoughtSignature": signature} if signature else {}
        _call(_spelt(part["functionCall"]), extra, made)
        return
    if part.get("text") is None:
        made.note("provider_part", ", ".join(key for key, value in part.items() if value is not None))
    (made.reasoning if part.get("thought") else made.text)(part.get("text"))
    if signature:
        made.prove(PROVIDER, signature)


def _call(call: JsonObject, extra: JsonObject, made: Assembler) -> None:
    partial = made.partial
    if partial is None:
        if not call.get("willContinue") and not call.get("partialArgs"):
            whole_call(made, call.get("name"), call.get("id"), call.get("args"), extra)
            return
        made.partial = partial = PartialArguments()
        made.call(partial, call.get("name"), call.get("id"), form="value", extra=extra)
    for item in map(_spelt, objects(call, "partialArgs")):
        partial.add(item)
    if not call.get("willContinue"):
        made.partial = None
        whole = partial.whole()
        made.arguments(partial, whole)
        made.end(partial, cut=whole is None)


def _spelt(item: JsonObject) -> JsonObject:
    """Spell the keys in camelCase, as most values have them already."""
    return camel(item) if "_" in "".join(item) else item


SHAPES: Final = (StepShape(lambda value: not value.keys().isdisjoint(_KEYS), _read),)
