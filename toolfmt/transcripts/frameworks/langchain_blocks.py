"""The blocks of LangChain's messages: the standard ones, and those of the providers.

{"type": "image", "base64": "iVBORw0KGgo", "mime_type": "image/png"}
{"type": "reasoning", "reasoning": "One call.", "extras": {"signature": "EqQB"}}
{"type": "text-plain", "text": "18C", "mime_type": "text/plain"}
{"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0"}}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from toolfmt.conversation import CallPart, MediaPart, OpaquePart, Part, ReasoningPart, RefusalPart, TextPart
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.apis.anthropic import BLOCKS as SIGNED
from toolfmt.transcripts.families.chat import ChatShape
from toolfmt.transcripts.families.chat_parts import content_of
from toolfmt.transcripts.parts.citations import standard
from toolfmt.transcripts.parts.hosted import LANGCHAIN, hosted
from toolfmt.transcripts.parts.media import MediaKind, data_of, kind_of, media_type_in
from toolfmt.transcripts.parts.values import give, own, rest, word
from toolfmt.transcripts.tables.blocks import PartRow, PartTable
from toolfmt.transcripts.tables.fields import citations, text

OWNER: Final = "langchain"
SIGNER: Final = "anthropic"
"""The owner of the blocks `thinking` and `redacted_thinking`."""
HIDER: Final = "openai"
"""The owner of reasoning with a ciphertext beside its summary."""
SIGNERS: Final = {
    "anthropic": SIGNER,
    "bedrock": SIGNER,
    "bedrock_converse": SIGNER,
    "google_genai": "google",
    "google_vertexai": "google",
    "openai": HIDER,
}
"""The owner of the proofs in each provider's answers."""
_ARGUMENTS: Final = ("args", "input", "arguments")
SHAPE: Final = ChatShape(owner=OWNER, provider=OWNER, signed_by=SIGNER)
_CHAT: Final = content_of(SHAPE)
_KINDS: Final[dict[str, MediaKind]] = {
    "image": "image",
    "audio": "audio",
    "video": "video",
    "file": "document",
    "text-plain": "document",
}
_CALLS: Final = ("tool_call", "tool_use", "function_call")


def _called(block: JsonObject, calls: Mapping[str, CallPart]) -> Part | None:
    """Return the call that a block repeats, or read the call from the block."""
    named, name = block.get("call_id", block.get("id")), block.get("name")
    if isinstance(named, str) and named in calls:
        return calls[named]
    arguments = next((block[key] for key in _ARGUMENTS if key in block), None)
    if not isinstance(name, str) or not (named is None or isinstance(named, str)):
        return None
    extra = rest(block, {"type", "id", "call_id", "name", *_ARGUMENTS}, OWNER)
    return give(CallPart(name, id=named, extra=extra), arguments)


def _reasoning(block: JsonObject, signer: str) -> Part | None:
    """Read reasoning: the standard block with its signature, or OpenAI's with a summary and a ciphertext."""
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


def _read_media(block: JsonObject, key: str) -> Part | None:
    """Read a standard block by a key; the older kind has `source_type` and `data`, Google's is `media`."""
    found, media_type, name = block.get(key), block.get("mime_type"), block.get("filename")
    if not isinstance(found, str) or not isinstance(media_type or "", str) or not isinstance(name or "", str):
        return None
    part = MediaPart(_KINDS.get(block["type"]) or kind_of(media_type or ""), media_type or "", name=name or None)
    if key in ("url", "file_uri"):
        part.url = found
    elif key == "text":
        part.data, part.media_type = data_of(found), media_type or "text/plain"
    elif key == "file_id":
        part.file_id, part.owner = found, OWNER
    else:
        part.data, part.media_type = found, media_type or media_type_in(found)
    return part


_PLACES: Final = ("base64", "data", "url", "file_uri", "file_id", "text")
"""The keys of a file's data or location."""


def _write_reasoning(part: ReasoningPart) -> JsonObject | None:
    block = _thought(part)
    return None if block is None else block | own(part.extra, OWNER)


def _thought(part: ReasoningPart) -> JsonObject | None:
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
    block: JsonObject = {"type": next(name for name, kind in _KINDS.items() if kind == part.kind)}
    if part.data is not None:
        block["base64"] = part.data
    elif part.url is not None:
        block["url"] = part.url
    elif part.file_id is not None and part.owner == OWNER:
        block["file_id"] = part.file_id
    else:
        return None
    about = {"mime_type": part.media_type or None, "filename": part.name}
    return block | {key: value for key, value in about.items() if value is not None}


def _read_sourced(block: JsonObject) -> Part | None:
    """Read a file in Anthropic's form."""
    part = SIGNED.read(block)
    return part if isinstance(part, MediaPart) else None


def _read_other(block: JsonObject) -> Part | None:
    """Read a block in the form of OpenAI's chat or of a provider."""
    part = _CHAT.read(block)
    return None if isinstance(part, OpaquePart) else part


_CITATIONS: Final = citations(
    "annotations", standard, lambda item: item.get("type") in ("citation", "non_standard_annotation")
)
BLOCKS: Final = PartTable(
    OWNER,
    (
        PartRow("text", TextPart, text("text"), _CITATIONS, read=_read_other),
        PartRow("refusal", RefusalPart, text("refusal")),
        PartRow("reasoning", ReasoningPart, write=_write_reasoning),
        PartRow("", MediaPart, write=_write_media, keys=()),
        *(
            PartRow(
                kind, MediaPart, read=partial(_read_media, key=key), keys=("mime_type", "source_type", "filename", key)
            )
            for kind in (*_KINDS, "media")
            for key in _PLACES
        ),
        *(PartRow(kind, MediaPart, read=_read_sourced) for kind in ("image", "document")),
        *(PartRow(kind, MediaPart, read=_read_other) for kind in _CHAT.types),
    ),
    marks="kept",
    strings=True,
    says=lambda block: hosted(block, LANGCHAIN),
)


def read_blocks(
    content: JsonValue, calls: Mapping[str, CallPart] | None = None, signer: str = SIGNER
) -> Sequence[Part]:
    """Read a content; blocks that repeat `calls` determine their places. Proofs are the `signer`'s."""
    if not is_array(content):
        return BLOCKS.read_all(content)
    return [_own(block, calls, signer) or BLOCKS.read(block) for block in content]


def _own(block: JsonValue, calls: Mapping[str, CallPart] | None, signer: str) -> Part | None:
    if not is_object(block):
        return None
    if block.get("type") == "reasoning":
        return _reasoning(block, signer)
    return _called(block, calls) if calls is not None and block.get("type") in _CALLS else None
