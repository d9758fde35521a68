"""Chat messages of OpenAI and its relatives: one table, made from a format's shape, reads and writes them.

    {"role": "user", "name": "ann", "content": [{"type": "text", "text": "..."}, {"type": "image_url", ...}]}
    {"role": "assistant", "content": "...", "refusal": null, "reasoning_content": "...", "audio": {"id": "..."},
     "annotations": [{"type": "url_citation", ...}],
     "tool_calls": [{"id": "...", "type": "function", "function": {"name": "...", "arguments": "{}"}}]}
    {"role": "tool", "tool_call_id": "...", "content": "..."}
    {"role": "function", "name": "...", "content": "..."}    (older)

Keys that a relative lacks are losses; unknown keys stay in the part's or message's `extra`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Final

from toolfmt import jsontext
from toolfmt.conversation import (
    CallPart,
    JsonPart,
    MediaPart,
    Part,
    ReasoningPart,
    RefusalPart,
    ResultPart,
    Role,
    TextPart,
)
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.families.chat import ChatShape
from toolfmt.transcripts.families.chat_parts import content_of, image_of
from toolfmt.transcripts.families.chat_thoughts import PLAIN, SIGNED, read_thoughts, write_proofs
from toolfmt.transcripts.parts.citations import cited, grounds, moved, source
from toolfmt.transcripts.parts.media import media_type_in
from toolfmt.transcripts.parts.values import (
    argument_object,
    arguments_at,
    give,
    inner,
    located,
    own,
    rest,
    text_at,
    texts_at,
    word,
)
from toolfmt.transcripts.tables.blocks import MARK, PartTable
from toolfmt.transcripts.tables.message_fields import NOTHING, MessageField
from toolfmt.transcripts.tables.request import ROLES, RequestTable

_ROLES: Final[dict[str, Role]] = {**ROLES, "developer": "developer", "function": "tool", "ipython": "tool"}


@cache
def messages_of(shape: ChatShape) -> RequestTable:
    """Make the table of messages."""
    blocks = content_of(shape)
    fields = (
        _plan(shape),
        None if shape.reasoning_part else _reasoning(shape),
        _images(shape, blocks),
        MessageField(("audio",), _read_sound),
        _citations(shape),
        _refusals(shape),
        _calls(shape),
    )
    return RequestTable(
        owner=shape.owner,
        roles=_ROLES,
        blocks=blocks,
        # Answers are often split at citations; other texts are separate.
        write_content=lambda parts, role: _write_content(parts, shape, blocks, "" if role == "assistant" else "\n\n"),
        fields=tuple(one for one in fields if one is not None),
        name="name",
        names=shape.names,
        result=(partial(_read_result, shape=shape, blocks=blocks), partial(_write_result, shape=shape, blocks=blocks)),
        empty="alone",
        no_content=shape.no_content,
    )


def _plan(shape: ChatShape) -> MessageField | None:
    """The last text before calls, if it has its own key."""
    if not shape.plan:
        return None

    def read(item: JsonObject, parts: list[Part]) -> frozenset[str]:
        plan = text_at(item, shape.plan)
        parts += [TextPart(plan)] if plan else []
        return frozenset({shape.plan})

    def pick(parts: Sequence[Part]) -> Sequence[Part]:
        texts = [part for part in parts if isinstance(part, TextPart) and not own(part.extra, shape.owner)]
        return texts[-1:] if any(isinstance(part, CallPart) for part in parts) else []

    def write(parts: list[TextPart], item: JsonObject) -> bool:
        item[shape.plan] = parts[0].text
        return False

    return MessageField((shape.plan,), read, TextPart, write, pick)


def _reasoning(shape: ChatShape) -> MessageField:
    """The reasoning before the text: signed thoughts if there are any, otherwise a plain key."""

    def read(item: JsonObject, parts: list[Part]) -> frozenset[str]:
        thoughts, known = read_thoughts(item, shape)
        parts += thoughts
        return known

    def write(parts: list[ReasoningPart], item: JsonObject) -> bool:
        text = "".join(part.text for part in parts)
        if text and shape.reasoning:
            item[parts[0].extra.get(f"{shape.owner}.key", shape.reasoning)] = text
        if shape.reasoning:
            item |= write_proofs(parts, shape)
        return bool(text and shape.reasoning_alone)

    return MessageField((*SIGNED, *PLAIN), read, ReasoningPart, write, first=True, role="assistant")


def _images(shape: ChatShape, blocks: PartTable) -> MessageField:
    """Images beside the content: bare base64, or those of a gateway's answer."""

    def read(item: JsonObject, parts: list[Part]) -> frozenset[str]:
        found = _read_images(item, shape, blocks)
        parts += found
        return frozenset({"images"}) if found else NOTHING

    def write(parts: list[MediaPart], item: JsonObject) -> bool:
        shown = [part.data for part in parts if part.kind == "image" and part.data]
        item |= {"images": shown} if shown else {}
        return bool(shown)

    return MessageField(("images",), read, MediaPart if shape.media == "list" else None, write)


def _read_images(item: JsonObject, shape: ChatShape, blocks: PartTable) -> list[MediaPart]:
    if shape.media == "list":
        return list(map(image_of, texts_at(item, "images")))
    shown = item.get("images") if item["role"] == "assistant" else None
    found = blocks.read_list(shown) if is_array(shown) else ()
    images = [part for part in found if isinstance(part, MediaPart)]
    return images if len(images) == len(found) else []


def _read_sound(item: JsonObject, parts: list[Part]) -> frozenset[str]:
    """Read an answer's audio: its transcript, unless the text repeats it, and its data."""
    sound = item["audio"] if item["role"] == "assistant" else None
    if not item.get("content") and (spoken := word(sound, "transcript")):
        parts.append(TextPart(spoken))
    if data := word(sound, "data"):
        parts.append(MediaPart("audio", media_type_in(data), data))
    return NOTHING


_OWN: Final[dict[str, Callable[[JsonObject], bool]]] = {
    "annotations": lambda item: "url_citation" in item,
    "citations": grounds,
}
"""For each key, whether a citation is in its format's form."""


def _citations(shape: ChatShape) -> MessageField:
    """The citations of all texts, for the joined text."""
    key = shape.annotations or "annotations"

    def read(item: JsonObject, parts: list[Part]) -> frozenset[str]:
        texts, found = [part for part in parts if isinstance(part, TextPart)], item[key]
        if not is_array(found) or not texts or not all(map(is_object, found)):
            return NOTHING
        for citation in found:
            before, text = 0, texts[0]
            start = source(citation).get("start", 0)
            for text in texts:
                if start < before + len(text.text):
                    break
                before += len(text.text)
            text.citations = (*text.citations, moved(citation, -before))
        return frozenset({key})

    def write(parts: list[TextPart], item: JsonObject) -> bool:
        written: list[JsonValue] = []
        before = 0
        for part in parts:
            written += (moved(citation, before) for citation in cited(part, shape.cites, _OWN[key]))
            before += len(part.text)
        if written and item.get("role") == "assistant":
            item[key] = written
        return False

    return MessageField((key,), read, TextPart if shape.annotations else None, write, shared=True)


def _refusals(shape: ChatShape) -> MessageField:
    def read(item: JsonObject, parts: list[Part]) -> frozenset[str]:
        refusal = text_at(item, "refusal")
        parts += [RefusalPart(refusal)] if refusal else []
        return frozenset({"refusal"})

    def write(parts: list[RefusalPart], item: JsonObject) -> bool:
        item["refusal"] = "\n".join(part.text for part in parts)
        return True

    return MessageField(("refusal",), read, RefusalPart if shape.refusals else None, write, instead=True)


def _calls(shape: ChatShape) -> MessageField:
    """Calls, or the single call of the older API."""
    legacy = f"{shape.owner}.legacy"
    keys = ("tool_calls", "function_call")
    known = frozenset(keys)

    def read(item: JsonObject, parts: list[Part]) -> frozenset[str]:
        items, only = item.get("tool_calls"), item.get("function_call")
        if items and not is_array(items):
            raise ParseError(f"tool_calls: expected a list, not {type(items).__name__}")
        for at, call in enumerate(items or ()):
            try:
                parts.append(_read_call(call, shape))
            except ParseError as error:
                raise located(f"tool_calls/{at}", error) from None
        if only is not None and _is_made(only):
            if not is_object(only):
                raise ParseError(f"function_call: expected an object, not {type(only).__name__}")
            parts.append(_called(only, CallPart("", extra={legacy: True}), shape))
        return known

    def write(parts: list[CallPart], item: JsonObject) -> bool:
        for part in parts:
            if part.extra.get(legacy):
                item["function_call"] = {"name": part.name, "arguments": part.json}
            else:
                item.setdefault("tool_calls", []).append(_write_call(part, shape))
        return True

    return MessageField(keys, read, CallPart, write, instead=True)


def _read_call(item: JsonValue, shape: ChatShape) -> CallPart:
    item = item if is_object(item) else {}
    body = item.get("function")
    custom = "custom" in item and not _is_made(body) and is_object(item["custom"])
    body = item["custom"] if custom else body
    if not is_object(body):
        raise ParseError("function: a tool call is an object with a `function`")
    call = _called(body, CallPart("", None, None, _id(item, "id", shape), custom), shape)
    if not item.keys() <= _CALL:
        call.extra = rest(item, _CALL, shape.owner) | call.extra
        google = inner(inner(item, "extra_content"), "google")
        if shape.gateways and word(google, "thought_signature"):
            call.signature, call.owner = word(google, "thought_signature"), "google"
            call.extra.pop(f"{shape.owner}.extra_content", None)
    return call


_CALL: Final = frozenset({"id", "type", "function", "custom"})
_BODY: Final = frozenset({"name", "arguments", "input"})


def _id(item: JsonObject, key: str, shape: ChatShape) -> str | None:
    found = text_at(item, key)
    return None if found == shape.no_id else found


def _called(body: JsonObject, call: CallPart, shape: ChatShape) -> CallPart:
    call.name = text_at(body, "name") or ""
    given = arguments_at(body, "input" if call.custom else "arguments")
    give(call, text_at(body, "input") if call.custom else given)
    if not body.keys() <= _BODY:
        call.extra |= rest(body, _BODY, f"{shape.owner}.function")
    return call


def _is_made(call: JsonValue) -> bool:
    """Whether a call is not empty: some servers write every field of an answer with empty texts."""
    return bool(call) and (not is_object(call) or bool(call.get("name") or call.get("arguments")))


def _write_call(part: CallPart, shape: ChatShape) -> JsonObject:
    item: JsonObject = {}
    if shape.call_ids and part.id is not None:
        item["id"] = part.id
    body: JsonObject
    if part.custom and shape.custom:
        item["type"] = "custom"
        body = item["custom"] = {"name": part.name, "input": part.text or ""}
    else:
        if shape.call_type:
            item["type"] = "function"
        arguments: JsonValue = argument_object(part) if shape.arguments == "object" or part.custom else part.json
        if shape.arguments == "text" and not isinstance(arguments, str):
            arguments = jsontext.dumps(arguments, compact=True)
        body = item["function"] = {"name": part.name, "arguments": arguments}
    if part.extra:
        beside = own(part.extra, shape.owner)
        item |= {key: value for key, value in beside.items() if key != "legacy" and not key.startswith("function.")}
        body.update(own(part.extra, f"{shape.owner}.function"))
    if part.signature is not None and part.owner == "google" and shape.gateways:
        content = item.get("extra_content", {})
        item["extra_content"] = content | {"google": content.get("google", {}) | {"thought_signature": part.signature}}
    return item


_RESULT: Final = frozenset({"role", "content", "name", "tool_name", "tool_call_id", "is_error"})


def _read_result(item: JsonObject, shape: ChatShape, blocks: PartTable) -> ResultPart:
    content, known = item.get("content"), _RESULT
    plain = content is None or isinstance(content, str) or is_array(content)
    found = blocks.read_content(content) if plain else (JsonPart(content),)
    if "images" in item and (images := _read_images(item, shape, blocks)):
        found, known = (*found, *images), known | {"images"}
    name = text_at(item, "name") or text_at(item, "tool_name")
    extra = rest(item, known, shape.owner)
    if item["role"] != "tool":
        extra[f"{shape.owner}.role"] = item["role"]
    return ResultPart(found, _id(item, "tool_call_id", shape), name, bool(item.get("is_error")), extra=extra)


def _write_result(part: ResultPart, shape: ChatShape, blocks: PartTable) -> JsonObject:
    further = own(part.extra, shape.owner)
    item: JsonObject = {"role": further.pop("role", "tool")}
    if shape.call_ids and part.id is not None:
        item["tool_call_id"] = part.id
    if shape.result_name and part.name is not None:
        item[shape.result_name] = part.name
    content = part.content
    if not shape.documents:
        content = [TextPart(jsontext.dumps(one.value)) if isinstance(one, JsonPart) else one for one in content]
    item["content"] = _write_content(content, shape, blocks, "\n")
    item.update(further)
    return item


def _write_content(parts: Sequence[Part], shape: ChatShape, blocks: PartTable, between: str) -> JsonValue:
    """Write a content: a single plain text as text, otherwise a list of parts, with JSON as text or documents."""
    part = parts[0] if len(parts) == 1 else None
    if isinstance(part, (TextPart, RefusalPart)) and not _beside(part, shape):
        return part.text
    if not shape.text_parts:
        return between.join(found.text for found in parts if isinstance(found, (TextPart, RefusalPart)))
    return blocks.write_list(parts) if parts else ""


def _beside(part: TextPart | RefusalPart, shape: ChatShape) -> bool:
    """Whether a text has extra fields that can be written."""
    return bool(part.extra) and (bool(own(part.extra, shape.owner)) or (shape.gateways and MARK in part.extra))
