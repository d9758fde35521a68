"""LangChain's content blocks: the standard ones, and those of a provider where a message holds them as they came.

{"type": "text", "text": "Checking."}
{"type": "reasoning", "reasoning": "One call."}
{"type": "thinking", "thinking": "One call.", "signature": "EqQB"}
{"type": "image", "base64": "iVBORw0KGgo", "mime_type": "image/png"}
{"type": "file", "url": "https://e.com/a.pdf", "mime_type": "application/pdf"}
{"type": "image_url", "image_url": {"url": "https://e.com/a.png"}}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from toolfmt import jsontext
from toolfmt.conversation import (
    CallPart,
    JsonPart,
    MediaPart,
    OpaquePart,
    Part,
    ReasoningPart,
    RefusalPart,
    TextPart,
)
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.chat import ChatShape
from toolfmt.transcripts.chat_media import marks
from toolfmt.transcripts.chat_read import read_parts
from toolfmt.transcripts.citations import cited, standard
from toolfmt.transcripts.hosted import LANGCHAIN, hosted
from toolfmt.transcripts.media import MediaKind, media_type_in
from toolfmt.transcripts.values import own, plain_text, rest, word

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

OWNER: Final = "langchain"
SIGNER: Final = "anthropic"
"""Whose blocks `thinking` and `redacted_thinking` are."""
HIDER: Final = "openai"
"""Whose reasoning has a ciphertext beside its summary."""
SIGNERS: Final = {
    "anthropic": SIGNER,
    "bedrock": SIGNER,
    "bedrock_converse": SIGNER,
    "google_genai": "google",
    "google_vertexai": "google",
    "openai": HIDER,
}
"""Whose proofs the answers of each provider hold."""
_ARGUMENTS: Final = ("args", "input", "arguments")
SHAPE: Final = ChatShape(owner=OWNER, provider=OWNER, signed_by=SIGNER)
_KINDS: Final[dict[str, MediaKind]] = {"image": "image", "audio": "audio", "video": "video", "file": "document"}
_TYPES: Final = {kind: name for name, kind in _KINDS.items()}
_CALLS: Final = ("tool_call", "tool_use", "function_call")


def read_content(content: JsonValue, calls: Mapping[str, CallPart] | None = None, signer: str = SIGNER) -> list[Part]:
    """Read a message's content; a block that repeats one of the `calls` says where it is. Proofs are the `signer`'s."""
    if isinstance(content, str):
        return [TextPart(content)] if content else []
    if not is_array(content):
        return [] if content is None else [OpaquePart(OWNER, content)]
    return [_read(block, calls, signer) for block in content]


def _read(block: JsonValue, calls: Mapping[str, CallPart] | None, signer: str) -> Part:
    kind = block.get("type") if is_object(block) else None
    part: Part | None = None
    if is_object(block) and isinstance(kind, str):
        if kind in _CALLS:
            part = _call(block, calls or {}) if calls is not None else None
        elif kind == "reasoning":
            part = _reasoning(block, signer)
        elif kind in _KINDS:
            part = _media(block, _KINDS[kind])
    part = part or read_parts([block], SHAPE)[0]
    return OpaquePart(OWNER, block, hosted(block, LANGCHAIN)) if isinstance(part, OpaquePart) else part


def _call(block: JsonObject, calls: Mapping[str, CallPart]) -> Part | None:
    """Find the call that a block repeats; one that is only among the blocks is read from there."""
    named, name = block.get("call_id", block.get("id")), block.get("name")
    if isinstance(named, str) and named in calls:
        return calls[named]
    arguments = next((block[key] for key in _ARGUMENTS if key in block), None)
    if not isinstance(name, str) or not (named is None or isinstance(named, str)):
        return None
    extra = rest(block, {"type", "id", "call_id", "name", *_ARGUMENTS}, OWNER)
    if isinstance(arguments, str):
        return CallPart(name, text=arguments, id=named, extra=extra)
    return CallPart(name, {} if arguments is None else arguments, id=named, extra=extra)


def _reasoning(block: JsonObject, signer: str) -> Part | None:
    """Read reasoning: the standard block with its signature beside, or OpenAI's with a summary and a ciphertext."""
    beside, summary, hidden = block.get("extras"), block.get("summary"), block.get("encrypted_content")
    text = block.get("reasoning", "" if is_object(beside) else None)
    if isinstance(hidden, str) and is_array(summary):
        texts = [word(item, "text") for item in summary]
        known = {"type", "summary", "encrypted_content"}
        return ReasoningPart("".join(texts), None, hidden, HIDER, rest(block, known, OWNER))
    if not isinstance(text, str):
        return None
    signature = word(beside, "signature")
    if not signature or not is_object(beside):
        return ReasoningPart(text, extra=rest(block, {"type", "reasoning"}, OWNER))
    extra = rest(block, {"type", "reasoning", "extras"}, OWNER)
    left = {key: found for key, found in beside.items() if key != "signature"}
    return ReasoningPart(text, signature, None, signer, extra | ({f"{OWNER}.extras": left} if left else {}))


def _media(block: JsonObject, kind: MediaKind) -> Part | None:
    """Read a standard block; the older kind has `source_type` and `data`."""
    key = next((key for key in ("base64", "data", "url", "file_id") if isinstance(block.get(key), str)), None)
    media_type, name = block.get("mime_type"), block.get("filename")
    if key is None or not isinstance(media_type or "", str) or not isinstance(name or "", str):
        return None
    part = MediaPart(kind, media_type or "", name=name or None)
    part.extra = marks(block, {"type", "mime_type", "source_type", "filename", key}, SHAPE)
    if key == "url":
        part.url = block[key]
    elif key == "file_id":
        part.file_id, part.owner = block[key], OWNER
    else:
        part.data, part.media_type = block[key], media_type or media_type_in(block[key])
    return part


def write_content(parts: Iterable[Part]) -> JsonValue:
    """Write a message's content: text where it is one text, else blocks; what has no place is left out."""
    said: Sequence[Part] = [part for part in parts if not isinstance(part, CallPart)]
    text = plain_text(said)
    return text if text is not None else [block for part in said if (block := _write(part)) is not None]


def _write(part: Part) -> JsonObject | None:
    match part:
        case TextPart():
            block: JsonObject | None = {"type": "text", "text": part.text}
            if found := cited(part, standard, lambda item: item.get("type") in ("citation", "non_standard_annotation")):
                block["annotations"] = found
        case RefusalPart():
            return {"type": "refusal", "refusal": part.text}
        case ReasoningPart():
            block = _write_reasoning(part)
        case MediaPart():
            block = _write_media(part)
        case JsonPart():
            return {"type": "text", "text": jsontext.dumps(part.value)}
        case OpaquePart():
            return part.value if part.owner == OWNER else None
        case _:
            return None
    if block is not None and part.extra:
        block.update(own(part.extra, OWNER))
        if "cache_control" in part.extra:
            block["cache_control"] = part.extra["cache_control"]
    return block


def _write_reasoning(part: ReasoningPart) -> JsonObject | None:
    if part.owner == SIGNER and part.encrypted is not None:
        return {"type": "redacted_thinking", "data": part.encrypted}
    if part.owner == SIGNER and part.signature is not None:
        return {"type": "thinking", "thinking": part.text, "signature": part.signature}
    if part.owner == HIDER and part.encrypted is not None:
        summary: list[JsonValue] = [{"type": "summary_text", "text": part.text}] if part.text else []
        return {"type": "reasoning", "summary": summary, "encrypted_content": part.encrypted}
    if part.signature is not None and part.owner in SIGNERS.values():
        return {"type": "reasoning", "reasoning": part.text, "extras": {"signature": part.signature}}
    return {"type": "reasoning", "reasoning": part.text} if part.text else None


def _write_media(part: MediaPart) -> JsonObject | None:
    block: JsonObject = {"type": _TYPES[part.kind]}
    if part.data is not None:
        block["base64"] = part.data
    elif part.url is not None:
        block["url"] = part.url
    elif part.file_id is not None and part.owner == OWNER:
        block["file_id"] = part.file_id
    else:
        return None
    if part.media_type:
        block["mime_type"] = part.media_type
    if part.name is not None:
        block["filename"] = part.name
    return block
