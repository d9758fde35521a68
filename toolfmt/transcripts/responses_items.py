"""The items of OpenAI's Responses: messages, thoughts, calls and their outputs, each an item of its own.

{"type": "message", "role": "assistant", "id": "msg_1", "phase": "final_answer", "content": [
    {"type": "output_text", "text": "18C", "annotations": []}, {"type": "refusal", "refusal": "No."}]}
{"type": "custom_tool_call", "call_id": "call_C3", "name": "run_sql", "input": "SELECT 1;"}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from toolfmt import jsontext
from toolfmt.conversation import (
    CallPart,
    Content,
    JsonPart,
    MediaPart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    RefusalPart,
    ResultPart,
    Role,
    TextPart,
)
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.citations import cited, flat
from toolfmt.transcripts.hosted import RESPONSES, hosted, readable
from toolfmt.transcripts.media import file_name, file_of, from_url, to_url
from toolfmt.transcripts.values import argument_object, own, plain_text, rest, word

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

OWNER: Final = "openai-responses"
PROVIDER: Final = "openai"
_ROLES: Final[dict[object, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "developer",
}
_MESSAGE: Final = frozenset({"type", "role", "content"})
_DETAIL: Final = "auto"
"""What an image says that does not say how closely to look, because it has to say it."""
_ANSWERED: Final = frozenset({"id", "status"})
_REASONING: Final = frozenset({"type", "summary", "content", "encrypted_content"})
_FUNCTION: Final = frozenset({"type", "call_id", "name", "arguments", "namespace"})
_CUSTOM: Final = frozenset({"type", "call_id", "name", "input", "namespace"})
_OUTPUT: Final = frozenset({"type", "call_id", "output"})


def read_item(item: JsonObject) -> Message:
    """Read one item; an item of a kind that is not known is kept whole."""
    reader = _READERS.get(item.get("type", "message"))
    message = reader(item) if reader is not None else _run_by_client(item)
    return Message("assistant", (OpaquePart(OWNER, item, hosted(item, RESPONSES)),)) if message is None else message


@dataclass(frozen=True, slots=True)
class _Client:
    """A kind of call that has items of its own, and is for the client to run."""

    name: str
    arguments: str
    """The key of the arguments, beside which `actions` may be a list of them."""


_CLIENT: Final = {
    "local_shell_call": _Client("local_shell", "action"),
    "shell_call": _Client("shell", "action"),
    "apply_patch_call": _Client("apply_patch", "operation"),
    "computer_call": _Client("computer", "action"),
    "tool_search_call": _Client("tool_search", "arguments"),
}
_CLIENT_RESULTS: Final = {
    "local_shell_call_output": "output",
    "shell_call_output": "output",
    "apply_patch_call_output": "output",
    "computer_call_output": "output",
    "tool_search_output": "tools",
}
"""The key of what came back, for each kind of item."""
_BY_ITEM: Final = frozenset({"local_shell_call_output"})
"""The kinds of outputs that have no `call_id`; their `id` is that of the call's item, or the call's."""


def _run_by_client(item: JsonObject) -> Message | None:
    """Read a call that is an ordinary call but for its item, or its output."""
    kind, ident = item.get("type"), item.get("call_id", item.get("id"))
    if not isinstance(kind, str) or not isinstance(ident, str) or item.get("execution") == "server":
        return None
    if kind in _CLIENT:
        made = _CLIENT[kind]
        key = made.arguments if made.arguments in item else "actions"
        value = item.get(key)
        arguments = {key: value} if is_array(value) else value
        call = CallPart(made.name, arguments, jsontext.dumps(arguments, compact=True), ident)
        call.extra = rest(item, {"call_id", key}, OWNER)
        return Message("assistant", (call,))
    if kind in _CLIENT_RESULTS:
        key = _CLIENT_RESULTS[kind]
        result = ResultPart(_came_back(item.get(key)), ident, extra=rest(item, {"call_id", key}, OWNER))
        result.extra[f"{OWNER}.{key}"] = item.get(key)
        return Message("tool", (result,))
    return None


def link_items(messages: Iterable[Message]) -> None:
    """Give each output that names its call's item, as a shell's does, the id of the call itself."""
    calls: dict[object, str | None] = {}
    for message in messages:
        for part in message.parts:
            if isinstance(part, CallPart) and f"{OWNER}.type" in part.extra:
                calls[part.extra.get(f"{OWNER}.id")] = part.id
            elif isinstance(part, ResultPart) and part.extra.get(f"{OWNER}.type") in _BY_ITEM:
                part.id = calls.get(part.id, part.id)


def _came_back(value: JsonValue) -> tuple[Content, ...]:
    if word(value, "type") == "computer_screenshot":
        image = _image(value)
        return (image,) if isinstance(image, MediaPart) else ()
    return tuple(
        TextPart(jsontext.dumps(part.value)) if isinstance(part, JsonPart) else part for part in readable(value)
    )


def _message(item: JsonObject) -> Message | None:
    role = _ROLES.get(item.get("role"))
    if role is None:
        return None
    content = item.get("content")
    parts: tuple[Part, ...]
    if isinstance(content, str):
        parts = (TextPart(content),) if content else ()
    else:
        parts = tuple(_part(part) for part in content) if is_array(content) else ()
    return Message(role, parts, extra={} if item.keys() <= _MESSAGE else rest(item, _MESSAGE, OWNER))


def _part(item: JsonValue) -> Part:
    if isinstance(item, str):
        return TextPart(item)
    reader = _PARTS.get(item.get("type")) if is_object(item) else None
    part = reader(item) if reader is not None else None
    return OpaquePart(OWNER, item) if part is None else part


def _text(item: JsonObject) -> Part | None:
    if not isinstance(item.get("text"), str):
        return None
    return TextPart(item["text"], tuple(item.get("annotations") or ()), rest(item, _TEXT, OWNER))


def _image(item: JsonObject) -> Part | None:
    extra = rest(item, _IMAGE, OWNER)
    detail = None if item.get("detail") == _DETAIL else item.get("detail")
    if isinstance(item.get("image_url"), str):
        part = from_url(item["image_url"], "image", detail=detail)
        part.extra = extra
        return part
    return MediaPart("image", file_id=item.get("file_id"), detail=detail, owner=PROVIDER, extra=extra)


def _file(item: JsonObject) -> Part | None:
    extra = rest(item, _FILE, OWNER)
    name = item.get("filename")
    if isinstance(item.get("file_data"), str):
        part = file_of(item["file_data"], name)
        part.extra = extra
        return part
    return MediaPart(
        "document", url=item.get("file_url"), file_id=item.get("file_id"), name=name, owner=PROVIDER, extra=extra
    )


_TEXT: Final = frozenset({"type", "text", "annotations"})
_IMAGE: Final = frozenset({"type", "image_url", "file_id", "detail"})
_FILE: Final = frozenset({"type", "file_data", "file_id", "file_url", "filename"})
_PARTS: Final[dict[object, Callable[[JsonObject], Part | None]]] = {
    "input_text": _text,
    "output_text": _text,
    "text": _text,
    "input_image": _image,
    "input_file": _file,
    "refusal": lambda item: RefusalPart(item["refusal"]) if isinstance(item.get("refusal"), str) else None,
}


def _reasoning(item: JsonObject) -> Message:
    chunks = [*(item.get("summary") or ()), *(item.get("content") or ())]
    text = "".join(chunk.get("text", "") for chunk in chunks)
    extra = rest(item, _REASONING, OWNER)
    if len(chunks) > 1 or item.get("content"):
        extra |= {f"{OWNER}.{key}": item[key] for key in ("summary", "content") if key in item}
    part = ReasoningPart(text, encrypted=item.get("encrypted_content"), owner=PROVIDER, extra=extra)
    return Message("assistant", (part,))


def _function(item: JsonObject) -> Message:
    arguments = item.get("arguments")
    part = CallPart(item.get("name") or "", id=item.get("call_id"), namespace=item.get("namespace"))
    if isinstance(arguments, str):
        part.text = arguments
    else:
        part.arguments = {} if arguments is None else arguments
    if not item.keys() <= _FUNCTION:
        part.extra = rest(item, _FUNCTION, OWNER)
    return Message("assistant", (part,))


def _custom(item: JsonObject) -> Message:
    text = item.get("input") or ""
    call = CallPart(
        item.get("name") or "", None, text, item.get("call_id"), custom=True, namespace=item.get("namespace")
    )
    call.extra = rest(item, _CUSTOM, OWNER)
    return Message("assistant", (call,))


def _output(item: JsonObject) -> Message:
    output = item.get("output")
    content: tuple[Content, ...]
    if isinstance(output, str):
        content = (TextPart(output),) if output else ()
    elif is_array(output):
        found = [_part(part) for part in output]
        content = tuple(part if isinstance(part, (TextPart, MediaPart)) else OpaquePart(OWNER, part) for part in found)
    else:
        content = () if output is None else (JsonPart(output),)
    custom = item.get("type") == "custom_tool_call_output"
    extra = {} if item.keys() <= _OUTPUT else rest(item, _OUTPUT, OWNER)
    return Message("tool", (ResultPart(content, item.get("call_id"), custom=custom, extra=extra),))


_READERS: Final[dict[object, Callable[[JsonObject], Message | None]]] = {
    "message": _message,
    "reasoning": _reasoning,
    "function_call": _function,
    "custom_tool_call": _custom,
    "function_call_output": _output,
    "custom_tool_call_output": _output,
}


def write_items(messages: Iterable[Message]) -> list[JsonValue]:
    """Write messages as items, in the order of their parts; what has no place is left out."""
    items: list[JsonValue] = []
    custom: set[str | None] = set()
    for message in messages:
        if message.origin == OWNER:
            items.append(message.source)
            continue
        spoken: list[Part] = []
        for part in message.parts:
            if isinstance(part, (TextPart, MediaPart, RefusalPart, JsonPart)):
                spoken.append(part)
                continue
            item = _alone(part, custom)
            if item is not None:
                _say(message, spoken, items)
                items.append(item)
        _say(message, spoken, items)
    return items


def _say(message: Message, spoken: list[Part], items: list[JsonValue]) -> None:
    if not spoken:
        return
    content = [found for part in spoken if (found := _write(part, message.role)) is not None]
    spoken.clear()
    if content:
        item: JsonObject = {"type": "message", "role": message.role, "content": content, **own(message.extra, OWNER)}
        items.append(_output_message(item, len(items)) if message.role == "assistant" else item)


def _output_message(item: JsonObject, number: int) -> JsonObject:
    """Say an answer as its text alone; where it says more it has an id and a status, as the API gave it."""
    content = item["content"]
    only: JsonObject = content[0] if len(content) == 1 and item.keys().isdisjoint(_ANSWERED) else {}
    if only.get("text") and only.keys() <= _TEXT and not only["annotations"]:
        return {**item, "content": only["text"]}
    mark = sha256(f"{number} {jsontext.dumps(content)}".encode("utf-8", "surrogatepass")).hexdigest()
    return {"id": f"msg_{mark[:24]}", "status": "completed", **item}


def _alone(part: Part, custom: set[str | None]) -> JsonObject | None:
    match part:
        case ReasoningPart():
            return _write_reasoning(part)
        case CallPart() | ResultPart() if f"{OWNER}.type" in part.extra:
            return _write_client(part)
        case CallPart():
            kind, key = ("custom_tool_call", "input") if part.custom else ("function_call", "arguments")
            if part.custom:
                custom.add(part.id)
            space = {} if part.namespace is None else {"namespace": part.namespace}
            return {
                "type": kind,
                "call_id": part.id,
                "name": part.name,
                key: part.json,
                **space,
                **own(part.extra, OWNER),
            }
        case ResultPart():
            kind = "custom_tool_call_output" if part.custom or part.id in custom else "function_call_output"
            return {"type": kind, "call_id": part.id, "output": _write_output(part.content), **own(part.extra, OWNER)}
        case OpaquePart():
            return part.value if part.owner == OWNER else None
        case _:
            return None


def _write_client(part: CallPart | ResultPart) -> JsonObject:
    item = own(part.extra, OWNER)
    if isinstance(part, CallPart):
        arguments = argument_object(part)
        item |= arguments if arguments.keys() == {"actions"} else {_CLIENT[item["type"]].arguments: arguments}
    return item if item["type"] in _BY_ITEM else {**item, "call_id": part.id}


def _write_reasoning(part: ReasoningPart) -> JsonObject | None:
    if part.owner != PROVIDER:
        return None
    summary: list[JsonValue] = [{"type": "summary_text", "text": part.text}] if part.text else []
    item: JsonObject = {"type": "reasoning", "summary": summary, **own(part.extra, OWNER)}
    return item if part.encrypted is None else {**item, "encrypted_content": part.encrypted}


def _write(part: Part, role: Role) -> JsonObject | None:
    extra = own(getattr(part, "extra", {}), OWNER)
    match part:
        case TextPart():
            if role != "assistant":
                return {"type": "input_text", "text": part.text, **extra}
            return {"type": "output_text", "text": part.text, "annotations": cited(part, flat, _annotates), **extra}
        case RefusalPart():
            return {"type": "refusal", "refusal": part.text}
        case JsonPart():
            return _write(TextPart(jsontext.dumps(part.value)), role)
        case MediaPart():
            written = _write_media(part)
            return None if written is None else {**written, **extra}
        case _:
            return part.value if isinstance(part, OpaquePart) and part.owner == OWNER else None


def _annotates(item: JsonObject) -> bool:
    """Whether a citation is flat, as Responses has it; chat puts it under a key that is named like its type."""
    kind = word(item, "type")
    return kind.endswith(("_citation", "_path")) and kind not in item


def _write_media(part: MediaPart) -> JsonObject | None:
    known = part.file_id if part.owner == PROVIDER else None
    url = to_url(part)
    if url is None and known is None:
        return None
    if part.kind == "image":
        place = {"image_url": url} if url else {"file_id": known}
        return {"type": "input_image", **place, "detail": part.detail or _DETAIL}
    if part.kind == "document":
        name = {"filename": part.name} if part.name else {}
        if part.data is not None:
            return {"type": "input_file", "file_data": url, "filename": file_name(part)}
        place = {"file_url": url} if url else {"file_id": known}
        return {"type": "input_file", **place, **name}
    return None


def _write_output(content: Sequence[Content]) -> JsonValue:
    said = tuple(TextPart(jsontext.dumps(part.value)) if isinstance(part, JsonPart) else part for part in content)
    text = plain_text(said)
    return text if text is not None else [found for part in said if (found := _write(part, "tool")) is not None]
