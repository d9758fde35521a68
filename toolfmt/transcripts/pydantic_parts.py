r"""The parts of pydantic-ai's messages: what a model answers with, what a user or a tool says.

{"part_kind": "thinking", "content": "Two calls.", "signature": "EqQB", "provider_name": "anthropic"}
{"part_kind": "tool-call", "tool_name": "get_weather", "args": "{\"city\":\"Paris\"}", "tool_call_id": "call_A1"}
{"part_kind": "tool-return", "tool_name": "get_weather", "content": ["18C",
    {"kind": "binary", "data": "iVBORw0KGgo", "media_type": "image/png"}], "tool_call_id": "call_A1"}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from toolfmt import jsontext
from toolfmt.conversation import (
    CallPart,
    Content,
    JsonPart,
    MediaPart,
    OpaquePart,
    Part,
    ReasoningPart,
    RefusalPart,
    ResultPart,
    Said,
    TextPart,
)
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.citations import anchored, cited
from toolfmt.transcripts.media import kind_of, known_type
from toolfmt.transcripts.values import argument_value, misread, own, plain_text, rest, tagged, word

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

NAME: Final = "pydantic-ai"
_MAKERS: Final = {
    "anthropic": "anthropic",
    "bedrock": "anthropic",
    "google": "google",
    "google-cloud": "google",
    "google-gla": "google",
    "google-vertex": "google",
    "openai": "openai",
    "azure": "openai",
}
"""Whose proofs a provider's answers hold."""
_APART: Final = frozenset({"openai"})
"""Whose ciphertext stands beside readable reasoning, not in place of it."""
_REDACTED: Final = ("redacted_thinking", "redacted_content")
_POINT: Final = "cache-point"
_URLS: Final = {"image-url": "image", "audio-url": "audio", "video-url": "video", "document-url": "document"}
_TEXT: Final = frozenset({"part_kind", "content", "citations"})
_THINKING: Final = frozenset({"part_kind", "content", "signature", "provider_name"})
_CALL: Final = frozenset({"part_kind", "tool_name", "args", "tool_call_id"})
_RESULT: Final = frozenset({"part_kind", "tool_name", "content", "tool_call_id", "outcome"})
_MEDIA: Final = frozenset({"kind", "data", "url", "media_type", "file_id"})
_ERRORS: Final = ("failed", "retried")


def read_answer(item: JsonValue) -> Part:
    """Read a part of a response; one that is not understood is kept as it came."""
    kind = word(item, "part_kind")
    reader = _READERS.get(kind)
    part = reader(item) if reader is not None else None
    if part is not None or not is_object(item):
        return OpaquePart(NAME, item) if part is None else part
    return OpaquePart(NAME, item, _says(kind, item))


def _says(kind: str, item: JsonObject) -> tuple[Said, ...]:
    """Say what the provider ran itself, or what is left of a conversation that was cut short."""
    match kind:
        case "builtin-tool-call":
            call = _call(item)
            return (call,) if isinstance(call, CallPart) else ()
        case "builtin-tool-return" if "content" in item:
            found = read_result({**item, "part_kind": "tool-return"})
            return (ResultPart(found.content, found.id, found.name, found.is_error),)
        case "compaction" if word(item, "content"):
            return (tagged("summary", item["content"]),)
        case _:
            return ()


def _text(item: JsonObject) -> Part | None:
    if not isinstance(item.get("content"), str):
        return None
    cited = item.get("citations")
    if is_array(cited) and all(map(is_object, cited)):
        return TextPart(item["content"], tuple(cited), rest(item, _TEXT, NAME))
    return TextPart(item["content"], extra=rest(item, _TEXT, NAME))


def _thinking(item: JsonObject) -> Part | None:
    if not isinstance(item.get("content"), str):
        return None
    part = ReasoningPart(item["content"], extra=rest(item, _THINKING, NAME))
    provider, signature = word(item, "provider_name"), word(item, "signature")
    if not signature:
        if provider:
            part.extra[f"{NAME}.provider_name"] = provider
        return part
    part.owner = _MAKERS.get(provider, provider or NAME)
    if part.owner != provider:
        part.extra[f"{NAME}.provider_name"] = item.get("provider_name")
    if part.owner in _APART or item.get("id") in _REDACTED:
        part.encrypted = signature
    else:
        part.signature = signature
    return part


def _call(item: JsonObject) -> Part | None:
    name, arguments = item.get("tool_name"), item.get("args")
    if not isinstance(name, str):
        return None
    part = CallPart(
        name, id=word(item, "tool_call_id") or None, extra=rest(item, _CALL - misread(item, "tool_call_id"), NAME)
    )
    if isinstance(arguments, str):
        part.text = arguments
    else:
        part.arguments = {} if arguments is None else arguments
    return part


def _file(item: JsonObject) -> Part | None:
    part = read_said(item.get("content"))
    if not isinstance(part, MediaPart):
        return None
    part.extra |= rest(item, {"part_kind", "content"}, f"{NAME}.part")
    return part


_READERS: Final[dict[str, Callable[[JsonObject], Part | None]]] = {
    "text": _text,
    "thinking": _thinking,
    "tool-call": _call,
    "file": _file,
}


def read_prompt(items: list[JsonValue]) -> tuple[Part, ...]:
    """Read a prompt's contents; a cache point is the mark that other formats put on the part before it."""
    parts: list[TextPart | MediaPart | OpaquePart] = []
    for item in items:
        last = parts[-1] if parts else None
        if word(item, "kind") == _POINT and isinstance(last, (TextPart, MediaPart)) and item.keys() <= {"kind", "ttl"}:
            last.extra["cache_control"] = {"type": "ephemeral", **{key: item[key] for key in item if key == "ttl"}}
        else:
            parts.append(read_said(item))
    return tuple(parts)


def write_prompt(parts: Iterable[Part]) -> list[JsonValue]:
    """Write a prompt's contents, each with the cache point that marks it; what has no place is left out."""
    contents: list[JsonValue] = []
    for part in parts:
        said = write_said(part)
        if said is None:
            continue
        contents.append(said)
        mark = part.extra.get("cache_control") if isinstance(part, (TextPart, MediaPart)) else None
        if is_object(mark):
            contents.append({"kind": _POINT, **{key: mark[key] for key in mark if key == "ttl"}})
    return contents


def read_said(item: JsonValue) -> TextPart | MediaPart | OpaquePart:
    """Read one of the contents of a user's prompt."""
    kind = word(item, "kind")
    if isinstance(item, str):
        return TextPart(item)
    if kind == "text-content" and isinstance(item.get("content"), str):
        return TextPart(item["content"], extra=rest(item, {"content"}, NAME))
    part: MediaPart | None = None
    if kind in _URLS and word(item, "url"):
        part = MediaPart(_URLS[kind], url=item["url"])  # pyright: ignore[reportArgumentType] - the table holds kinds
    elif kind == "binary" and word(item, "data") and word(item, "media_type"):
        data = item["data"].replace("-", "+").replace("_", "/")
        part = MediaPart(kind_of(item["media_type"]), data=data)
    elif kind == "uploaded-file" and word(item, "file_id"):
        part = MediaPart(kind_of(word(item, "media_type")), file_id=item["file_id"])
        part.owner = _MAKERS.get(word(item, "provider_name"), word(item, "provider_name"))
    if part is None:
        return OpaquePart(NAME, item)
    part.media_type = word(item, "media_type")
    part.extra = rest(item, _MEDIA, NAME)
    if part.owner and part.owner == item["provider_name"]:
        del part.extra[f"{NAME}.provider_name"]
    return part


def read_result(item: JsonObject) -> ResultPart:
    """Read what a tool gave back, or its call to try again."""
    kind, outcome = item["part_kind"], item.get("outcome", "success")
    extra = rest(item, _RESULT - misread(item, "tool_name", "tool_call_id"), NAME)
    if kind != "tool-return":
        extra[f"{NAME}.part_kind"] = kind
    elif outcome not in ("success", "failed"):
        extra[f"{NAME}.outcome"] = outcome
    failed = kind != "tool-return" or outcome in _ERRORS
    name = word(item, "tool_name") or None
    return ResultPart(_content(item.get("content")), word(item, "tool_call_id") or None, name, failed, extra=extra)


def _content(value: JsonValue) -> tuple[Content, ...]:
    """Read a tool's return: text, JSON, or a list with media in it."""
    if isinstance(value, str):
        return (TextPart(value),) if value else ()
    found = read_said(value)
    if isinstance(found, MediaPart):
        return (found,)
    if is_array(value):
        parts = [read_said(item) for item in value]
        if any(isinstance(part, MediaPart) for part in parts):
            return tuple(JsonPart(part.value) if isinstance(part, OpaquePart) else part for part in parts)
    return (JsonPart(value),)


def write_answer(part: Part) -> JsonValue:
    """Write a part of a response; None where it has no place."""
    writer = _WRITERS.get(type(part))
    return None if writer is None else writer(part)


def _write_text(part: TextPart) -> JsonObject:
    item: JsonObject = {"part_kind": "text", "content": part.text}
    if found := cited(part, anchored, lambda citation: "sources" in citation):
        item["citations"] = found
    return item | own(part.extra, NAME)


def _write_thinking(part: ReasoningPart) -> JsonObject:
    item: JsonObject = {"part_kind": "thinking", "content": part.text}
    proof = part.signature if part.encrypted is None else part.encrypted
    if proof is not None and part.owner:
        item |= {"signature": proof, "provider_name": part.owner}
        if part.encrypted is not None and part.owner not in _APART:
            item["id"] = _REDACTED[0]
    return item | own(part.extra, NAME)


def _write_call(part: CallPart) -> JsonObject:
    item: JsonObject = {"part_kind": "tool-call", "tool_name": part.name}
    value = argument_value(part) if part.custom else part.arguments
    item["args"] = part.text if part.text is not None and not part.custom else value if is_object(value) else part.json
    item["tool_call_id"] = part.id
    return item | own(part.extra, NAME)


def _write_file(part: MediaPart) -> JsonObject | None:
    content = write_said(part) if part.data is not None else None
    inside = f"{NAME}.part"
    if not is_object(content):
        return None
    content = {key: value for key, value in content.items() if not key.startswith("part.")}
    return {"part_kind": "file", "content": content} | own(part.extra, inside)


_WRITERS: Final[dict[type, Callable[[Any], JsonValue]]] = {
    TextPart: _write_text,
    ReasoningPart: _write_thinking,
    RefusalPart: lambda part: {"part_kind": "text", "content": part.text},
    JsonPart: lambda part: {"part_kind": "text", "content": jsontext.dumps(part.value)},
    CallPart: _write_call,
    MediaPart: _write_file,
    OpaquePart: lambda part: part.value if part.owner == NAME else None,
}


def write_said(part: Part) -> JsonValue:
    """Write one of the contents of a user's prompt; None where it has no place."""
    match part:
        case TextPart():
            extra = own(part.extra, NAME)
            written: JsonValue = {"content": part.text} | extra if extra else part.text
        case MediaPart(data=str() as data):
            written = {"kind": "binary", "data": data, "media_type": known_type(part)} | own(part.extra, NAME)
        case MediaPart(url=str() as url):
            typed = {"media_type": part.media_type} if part.media_type else {}
            written = {"kind": f"{part.kind}-url", "url": url} | typed | own(part.extra, NAME)
        case MediaPart(file_id=str() as file) if part.owner in _MAKERS.values():
            written = {"kind": "uploaded-file", "file_id": file, "provider_name": part.owner}
            written |= {"media_type": known_type(part)} | own(part.extra, NAME)
        case OpaquePart():
            written = part.value if part.owner == NAME else None
        case JsonPart():
            written = jsontext.dumps(part.value)
        case _:
            written = None
    return written


def write_result(part: ResultPart) -> JsonObject:
    """Write what a tool gave back."""
    item: JsonObject = {
        "part_kind": "tool-return",
        "tool_name": part.name or "",
        "content": _write_content(part.content),
        "tool_call_id": part.id,
    }
    if part.is_error:
        item["outcome"] = "failed"
    item |= own(part.extra, NAME)
    if item["part_kind"] != "tool-return":
        item.pop("outcome", None)
    return item


def _write_content(content: tuple[Content, ...]) -> JsonValue:
    text = plain_text(content)
    if text is not None:
        return text
    if len(content) == 1 and isinstance(content[0], JsonPart):
        return content[0].value
    if not any(isinstance(part, MediaPart) for part in content):
        return "\n".join(_words(content))
    return [
        written
        for part in content
        if (written := part.value if isinstance(part, JsonPart) else write_said(part)) is not None
    ]


def _words(content: Iterable[Content]) -> Iterable[str]:
    for part in content:
        if isinstance(part, TextPart):
            yield part.text
        elif isinstance(part, JsonPart):
            yield jsontext.dumps(part.value)
