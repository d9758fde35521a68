"""The contents of Inspect's messages; media are addresses, mostly with the data inside.

{"type": "text", "text": "Weather?"}
{"type": "reasoning", "reasoning": "gAAAAAB", "summary": "Two calls.", "redacted": true}
{"type": "image", "image": "data:image/png;base64,iVBORw0KGgo", "detail": "auto"}
{"type": "audio", "audio": "data:audio/wav;base64,UklGRg", "format": "wav"}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from toolfmt import jsontext
from toolfmt.conversation import (
    Content,
    JsonPart,
    MediaPart,
    OpaquePart,
    Part,
    ReasoningPart,
    RefusalPart,
    TextPart,
)
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.citations import addressed, cited
from toolfmt.transcripts.hosted import INSPECT, hosted
from toolfmt.transcripts.media import MediaKind, from_url, known_type, to_url
from toolfmt.transcripts.values import own, plain_text, rest, word

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

NAME: Final = "inspect"
_MAKERS: Final = {"anthropic": "anthropic", "bedrock": "anthropic", "google": "google", "openai": "openai"}
"""Whose proofs an answer holds, by the provider that its `model` begins with."""
_TEXT: Final = frozenset({"type", "text", "citations", "refusal"})
_THOUGHT: Final = frozenset({"type", "reasoning", "signature", "redacted"})
_FORMATS: Final = {
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/mp3": "mp3",
    "audio/mpeg": "mp3",
    "video/mp4": "mp4",
    "video/mpeg": "mpeg",
    "video/quicktime": "mov",
}
_TYPES: Final = {"mov": "quicktime"}


def read_content(content: JsonValue, model: str) -> tuple[Part, ...]:
    """Read a message's content: text, or a list of contents; what is not understood is kept as it came."""
    if isinstance(content, str):
        return (TextPart(content),) if content else ()
    if not is_array(content):
        return () if content is None else (OpaquePart(NAME, content),)
    return tuple([_reasoning(item, model) if word(item, "type") == "reasoning" else _read(item) for item in content])


def read_said(content: JsonValue) -> tuple[Content, ...]:
    """Read what a tool gave back."""
    if isinstance(content, str):
        return (TextPart(content),) if content else ()
    if not is_array(content):
        return () if content is None else (OpaquePart(NAME, content),)
    parts = [(_read(item), item) for item in content]
    return tuple(OpaquePart(NAME, item) if isinstance(part, RefusalPart) else part for part, item in parts)


def _read(item: JsonValue) -> TextPart | RefusalPart | MediaPart | OpaquePart:
    kind = word(item, "type")
    if kind == "text" and isinstance(item.get("text"), str):
        if item.get("refusal") is True:
            return RefusalPart(item["text"])
        cited = item.get("citations")
        if is_array(cited) and all(map(is_object, cited)):
            return TextPart(item["text"], tuple(cited), rest(item, _TEXT, NAME))
        return TextPart(item["text"], extra=rest(item, _TEXT, NAME))
    if kind in ("image", "audio", "video", "document") and word(item, kind):
        return _media(item, kind)
    return OpaquePart(NAME, item, hosted(item, INSPECT))


def _media(item: JsonObject, kind: MediaKind) -> MediaPart:
    part = from_url(item[kind], kind, detail=word(item, "detail") or None, name=word(item, "filename") or None)
    written = word(item, "format")
    typed = f"{kind}/{_TYPES.get(written, written)}" if written else word(item, "mime_type")
    part.media_type = part.media_type or typed
    part.extra = rest(item, {"type", kind, "detail", "filename", "format", "mime_type"}, NAME)
    return part


def _reasoning(item: JsonObject, model: str) -> Part:
    """Read reasoning; where it is redacted, `reasoning` is what only the maker can read."""
    text, summary, signature = item.get("reasoning"), word(item, "summary"), word(item, "signature") or None
    if not isinstance(text, str):
        return OpaquePart(NAME, item)
    redacted = item.get("redacted") is True
    owner = _MAKERS.get(model.partition("/")[0], NAME) if signature is not None or redacted else ""
    if redacted:
        return ReasoningPart(summary, signature, text, owner, rest(item, _THOUGHT | {"summary"}, NAME))
    return ReasoningPart(text, signature, None, owner, rest(item, _THOUGHT, NAME))


def write_content(parts: Iterable[Part]) -> JsonValue:
    """Write a content: text where it is one text, else a list; what has no place, such as a call, is left out."""
    spoken = [part for part in parts if type(part) in _WRITERS]
    text = plain_text(spoken)
    if text is not None:
        return text
    written: list[JsonValue] = []
    for part in spoken:
        item = _WRITERS[type(part)](part)
        if item is not None:
            extra: JsonObject = getattr(part, "extra", None) or {}
            written.append(item | own(extra, NAME) if extra else item)
    return written


def _write_text(part: TextPart) -> JsonObject:
    item: JsonObject = {"type": "text", "text": part.text}
    found = cited(part, addressed, _cites)
    return item | {"citations": found} if found else item


def _cites(item: JsonObject) -> bool:
    return word(item, "type") in ("content", "document", "url")


def _write_reasoning(part: ReasoningPart) -> JsonObject:
    item: JsonObject = {"type": "reasoning", "reasoning": part.text if part.encrypted is None else part.encrypted}
    if part.encrypted is not None and part.text:
        item["summary"] = part.text
    if part.signature is not None:
        item["signature"] = part.signature
    item["redacted"] = part.encrypted is not None
    return item


def _write_media(part: MediaPart) -> JsonObject | None:
    address, written = to_url(part), _FORMATS.get(known_type(part))
    if address is None or (part.kind in ("audio", "video") and written is None):
        return None
    item: JsonObject = {"type": part.kind, part.kind: address}
    if part.kind == "image":
        return item | {"detail": part.detail} if part.detail else item
    if part.kind != "document":
        return item | {"format": written}
    name = {} if part.name is None else {"filename": part.name}
    return item | name | ({"mime_type": part.media_type} if part.media_type else {})


_WRITERS: Final[dict[type, Callable[[Any], JsonValue]]] = {
    TextPart: _write_text,
    RefusalPart: lambda part: {"type": "text", "text": part.text, "refusal": True},
    JsonPart: lambda part: {"type": "text", "text": jsontext.dumps(part.value)},
    ReasoningPart: _write_reasoning,
    MediaPart: _write_media,
    OpaquePart: lambda part: part.value if part.owner == NAME else None,
}
