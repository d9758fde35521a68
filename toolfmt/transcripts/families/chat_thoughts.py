"""The reasoning in chat messages: a part of the content, plain text beside it, or signed thoughts.

{"type": "thinking", "thinking": [{"type": "text", "text": "One call."}]}                     a part of the content
{"reasoning_content": "One call."}                                                            plain text
{"thinking_blocks": [{"type": "thinking", "thinking": "One call.", "signature": "EqQB"}]}     LiteLLM's
{"reasoning_details": [{"type": "reasoning.text", "text": "One call.", "signature": "EqQB",
    "format": "anthropic-claude-v1", "index": 0}]}                                            OpenRouter's
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from toolfmt.conversation import OpaquePart, Part, ReasoningPart
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.families.chat import ChatShape
from toolfmt.transcripts.parts.values import own, rest, says, word
from toolfmt.transcripts.tables.message_fields import NOTHING

PLAIN: Final = ("reasoning_content", "reasoning", "thinking")
"""The keys of reasoning as plain text."""
SIGNED: Final = ("thinking_blocks", "reasoning_details")
"""The keys of signed thoughts."""
_TEXTS: Final = {"reasoning.text": "text", "reasoning.summary": "summary", "reasoning.encrypted": "data"}
"""Each type of OpenRouter's details, with the key of its content."""
_FORMATS: Final = {
    "anthropic": "anthropic-claude-v1",
    "google": "google-gemini-v1",
    "openai": "openai-responses-v1",
    "xai": "xai-responses-v1",
}
"""OpenRouter documentation, "Reasoning Tokens": the format of each owner's details."""
_MAKERS: Final = {word: maker for maker, word in _FORMATS.items()} | {"azure-openai-responses-v1": "openai"}


def read_thoughts(item: JsonObject, shape: ChatShape) -> tuple[list[Part], frozenset[str]]:
    """Read the reasoning beside a content: signed thoughts, or else a plain key; also return the keys read.

    A plain key that repeats the signed thoughts is ignored.
    """
    found: list[Part] = []
    signed = next((key for key in SIGNED if (found := _signed(item.get(key), key, shape))), "")
    whole = "".join(part.text for part in found if isinstance(part, ReasoningPart))
    key = next((key for key in PLAIN if isinstance(item.get(key), str)), "")
    if whole:
        return found, frozenset({signed, *(key for key in PLAIN if item.get(key) == whole)})
    if key and item[key]:
        spelled = {} if key == (shape.reasoning or "reasoning_content") else {f"{shape.owner}.key": key}
        found = [ReasoningPart(item[key], extra=spelled), *found]
    return found, frozenset({key, signed} - {""}) or NOTHING


def _signed(value: JsonValue, key: str, shape: ChatShape) -> list[Part]:
    if not is_array(value):
        return []
    if key == SIGNED[0]:
        thoughts = ((block, read_thinking(block, shape) if is_object(block) else None) for block in value)
        return [OpaquePart(shape.owner, block) if found is None else found for block, found in thoughts]
    return _read_details(value, shape)


def _read_details(details: Sequence[JsonValue], shape: ChatShape) -> list[Part]:
    """Read OpenRouter's details: those of one index are one thought; nothing if one is not understood."""
    thoughts: dict[int, ReasoningPart] = {}
    for number, item in enumerate(details):
        key = _TEXTS.get(word(item, "type"))
        if key is None or not is_object(item) or not says(item, key, "signature", "format"):
            return []
        index = item.get("index")
        thought = thoughts.setdefault(index if isinstance(index, int) else -1 - number, ReasoningPart(""))
        if key == "data":
            thought.encrypted = word(item, key) or None
        else:
            thought.text += word(item, key)
        thought.signature = word(item, "signature") or thought.signature
        maker = _MAKERS.get(word(item, "format"), "")
        if thought.signature or thought.encrypted:
            thought.owner = maker
        usual = {"format"} if item.get("format") == _FORMATS.get(maker) else set[str]()
        thought.extra |= rest(item, {"type", key, "signature", "index", *usual}, shape.owner)
    return list(thoughts.values())


def write_proofs(parts: Sequence[ReasoningPart], shape: ChatShape) -> JsonObject:
    """Write thoughts with their proofs, if a message has a place for these."""
    if not any(part.signature or part.encrypted for part in parts):
        return {}
    if shape.details:
        return {SIGNED[1]: [item for at, part in enumerate(parts) for item in _details(part, at, shape)]}
    if shape.signed_by and {part.owner for part in parts} == {shape.signed_by}:
        return {SIGNED[0]: [_block(part, shape) for part in parts]}
    return {}


def _details(part: ReasoningPart, index: int, shape: ChatShape) -> list[JsonObject]:
    about: JsonObject = {"format": _FORMATS.get(part.owner, "unknown"), "index": index, **own(part.extra, shape.owner)}
    about.pop("key", None)
    if part.encrypted is None:
        signature = {} if part.signature is None else {"signature": part.signature}
        return [{"type": "reasoning.text", "text": part.text, **signature, **about}]
    summary: list[JsonObject] = [{"type": "reasoning.summary", "summary": part.text, **about}] if part.text else []
    return [*summary, {"type": "reasoning.encrypted", "data": part.encrypted, **about}]


def _block(part: ReasoningPart, shape: ChatShape) -> JsonObject:
    if part.encrypted is not None:
        return {"type": "redacted_thinking", "data": part.encrypted}
    signature = {} if part.signature is None else {"signature": part.signature}
    return {"type": "thinking", "thinking": part.text, **signature, **own(part.extra, shape.owner)}


def read_thinking(block: JsonObject, shape: ChatShape) -> ReasoningPart | None:
    """Read a thought: its text, its chunks, or its encrypted content."""
    owner = shape.signed_by or shape.provider
    if block.get("type") == "redacted_thinking":
        data = block.get("data")
        return ReasoningPart("", encrypted=data, owner=owner) if isinstance(data, str) else None
    thinking, signature = block.get("thinking", ""), block.get("signature")
    beside: JsonObject = {}
    if is_array(thinking):
        is_plain = all(is_object(chunk) and chunk.keys() == {"type", "text"} for chunk in thinking)
        beside = {} if is_plain else {f"{shape.owner}.thinking": thinking}
        thinking = "".join(word(chunk, "text") for chunk in thinking)
    if not isinstance(thinking, str) or not (signature is None or isinstance(signature, str)):
        return None
    extra = rest(block, {"type", "thinking", "signature"}, shape.owner) | beside
    return ReasoningPart(thinking, signature, owner=owner if signature else "", extra=extra)


def write_thinking(part: ReasoningPart, shape: ChatShape) -> JsonObject:
    """Write a thought as a part of the content."""
    thought = part.text if shape.reasoning_part == "text" else [{"type": "text", "text": part.text}]
    signed = {"signature": part.signature} if part.signature is not None and part.owner == shape.provider else {}
    return {"type": "thinking", "thinking": thought, **signed, **own(part.extra, shape.owner)}
